-- Writes a file of a figure that moves: with -M figure=NAME and -M as=still its picture, as=states
-- all of them.
local here = PANDOC_SCRIPT_FILE:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;" .. package.path
local figure = require("figure")

function Pandoc(doc)
    local name, as = pandoc.utils.stringify(doc.meta.figure), pandoc.utils.stringify(doc.meta.as)
    return pandoc.Pandoc({ pandoc.RawBlock("html", figure[as](name)) })
end
