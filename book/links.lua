-- Resolves the links that weave.lua left, names the page's neighbours, gives headings their links, and makes folds
-- of solutions, answers and further sections. With BOOK_PAGES set (to the list that contents.awk writes) every
-- chapter is a page; without, the book is one document, with solutions and answers at the end. With BOOK_PRINT set
-- (to the list that pages.pl writes, empty at first) the document has contents with page numbers. A figure that moves
-- is drawn into a page, and stays a picture elsewhere.
local here = PANDOC_SCRIPT_FILE:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;" .. package.path
local figure = require("figure")
local list = os.getenv("BOOK_PAGES")
local print_list = os.getenv("BOOK_PRINT")

local steps, chapters = {}, {}
if list then
    for line in io.lines(list) do
        local f = {}
        for field in (line .. "\t"):gmatch("([^\t]*)\t") do f[#f + 1] = field end
        if f[1] == "step" then steps[f[2]] = f[3] end
        if f[1] == "chapter" then
            local number = f[2]:match("^0*(%d+%l?)%f[%W]")
            local title = number and number .. " " .. f[4] or f[4]
            chapters[#chapters + 1] = { slug = f[2], title = title, part = f[5] }
        end
    end
end

-- For print, which has no links: the number of the page with each id.
local page = {}
if print_list then
    for line in io.lines(print_list) do
        local id, number = line:match("^(%S+)\t(%d+)$")
        if id then page[id] = number end
    end
end

local function link(el)
    local slug, id = el.target:match("^page:([^#]*)#(.*)$")
    if slug then
        el.target = list and slug .. ".html#" .. id or "#" .. id
        return el
    end
    local nn, line = el.target:match("^source:(%d%d)#?(.*)$")
    if not nn then return nil end
    if not list then return el.content end
    el.target = "steps/" .. steps[nn] .. ".html" .. (line ~= "" and "#" .. line or "")
    return el
end

local function escaped(text)
    return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"))
end

-- Keeps options on one line: a browser breaks after a hyphen, and "--" at the end of a line looks like a word.
local function code(el)
    if #el.classes > 0 then return nil end
    local text = escaped(el.text):gsub("%S+", function(word)
        if not word:match("^%-+%w") and not word:match('^%w+="?%-') then return nil end
        return '<span class="one-line">' .. word .. "</span>"
    end)
    if not text:find("<span", 1, true) then return nil end
    return pandoc.RawInline("html", "<code>" .. text .. "</code>")
end

-- Hints: each holds the next one, so that one at a time is opened.
local function one_by_one(el)
    local blocks = pandoc.List()
    local items = el.content[1].content
    for i, item in ipairs(items) do
        local title = i == 1 and el.attributes.title or "Hint " .. i .. " of " .. #items
        blocks:insert(pandoc.RawBlock("html", '<details class="hint"' .. (i == 1 and ' id="' .. el.identifier .. '"' or "")
            .. "><summary>" .. escaped(title) .. "</summary>"))
        blocks:insert(pandoc.Para(item[1].content))
    end
    blocks:insert(pandoc.RawBlock("html", ("</details>"):rep(#items)))
    return blocks
end

local function in_address(text)
    return (text:gsub("[^%w%-%.~]", function(c) return string.format("%%%02X", c:byte()) end))
end

-- A link to the heading itself, and one that reports a mistake below it. BOOK_REPORT is where a report goes:
-- mailto:, with an address or without, or the page of a tracker that takes ?title= and ?body=.
local report = os.getenv("BOOK_REPORT") or "mailto:"
local function at_heading(el, page_title)
    if el.identifier == "" then return nil end
    local heading = pandoc.utils.stringify(el)
    local place = page_title == heading and heading or page_title .. ", " .. heading
    local link_title = "Link to this heading"
    local subject = report:match("^mailto:") and "?subject=" or "?title="
    el.content:insert(pandoc.Link({}, "#" .. el.identifier, "", { class = "anchor", title = link_title,
        ["aria-label"] = link_title .. ": " .. heading }))
    el.content:insert(pandoc.Link({}, report .. subject .. in_address("Mistake in: " .. place) .. "&body="
        .. in_address("Page: " .. page_title .. "\nHeading: " .. heading .. " (#" .. el.identifier .. ")\n\n"),
        "", { class = "report", title = "Report a mistake here", ["aria-label"] = "Report a mistake: " .. heading }))
    return el
end

local at_the_end = {}
local function div(el)
    local title = el.attributes.title
    local class = el.classes[1]
    if class ~= "further" and class ~= "hint" and class ~= "solution" and class ~= "answer" then return nil end
    if list and class == "hint" then return one_by_one(el) end
    if list then
        local blocks = pandoc.List({ pandoc.RawBlock("html", '<details class="' .. class .. '" id="'
            .. el.identifier .. '"><summary>' .. escaped(title) .. "</summary>") })
        blocks:extend(el.content)
        blocks:insert(pandoc.RawBlock("html", "</details>"))
        return blocks
    end
    el.attributes.title = nil
    if class == "further" then
        el.content:insert(1, pandoc.Para { pandoc.Strong { pandoc.Str(title) } })
        return el
    end
    local step = el.attributes.step ~= "" and "Step " .. el.attributes.step .. ". " or ""
    el.attributes.step = nil
    at_the_end[#at_the_end + 1] = el
    local here = el.identifier .. "-asked"
    local name = step .. title .. (page[here] and " (page " .. page[here] .. ")" or "")
    el.content:insert(1, pandoc.Para { pandoc.Link({ pandoc.Strong { pandoc.Str(name) } }, "#" .. here) })
    local text = class == "answer" and "The answer is " or class == "hint" and "Hints are " or "The solution is "
    local number = page[el.identifier]
    local at = number and "on page " .. number .. "." or "at the end of the book."
    return pandoc.Div({ pandoc.Plain { pandoc.Link(pandoc.Str(text .. at), "#" .. el.identifier) } },
        pandoc.Attr(here, { "asked", class }))
end

-- A picture with a caption is a paragraph, or with newer pandocs a Figure.
local moving = pandoc.List()
local function moved(caption, image)
    if not list or not image or image.t ~= "Image" or not image.classes:includes("moving") then return nil end
    local name = image.src:match("^figures/(.+)%.svg$")
    moving:insert(name)
    return { pandoc.RawBlock("html", figure.page(name)), pandoc.Plain(caption),
        pandoc.RawBlock("html", "</figcaption></figure>") }
end

local function paragraph(el)
    local only = #el.content == 1 and el.content[1]
    if only then return moved(only.caption, only) end
end

local function captioned(el)
    local first = el.content[1]
    local caption = pandoc.utils.blocks_to_inlines(el.caption.long)
    if first and first.content then return moved(caption, first.content[1]) end
end

-- If a listing has several solutions, only the first is named, and so are its hints: the others follow them.
local function named_once(blocks)
    local before = {}
    for _, block in ipairs(blocks) do
        local classes = block.t == "Div" and block.classes
        local class = classes and classes:includes("asked") and classes[2]
        if class ~= "solution" and class ~= "hint" then
            before = {}
        elseif before[class] then
            block.content = {}
        else
            before[class] = true
        end
    end
    return blocks
end

local function contents_of(blocks)
    local items, part = {}, nil
    for i, block in ipairs(blocks) do
        if block.t == "Header" and block.level <= 2 and block.identifier ~= "chindex" then
            -- A chapter's part is below its title.
            local below = block.level == 1 and blocks[i + 1]
            local named = below and below.t == "Div" and below.classes:includes("part")
                and pandoc.utils.stringify(below):match("^(Part .-) \194\183 ")
            if named and named ~= part then
                part = named
                items[#items + 1] = pandoc.Div({ pandoc.Plain { pandoc.Str(named) } }, { class = "of-part" })
            end
            items[#items + 1] = pandoc.Div({ pandoc.Plain {
                pandoc.Link(block.content, "#" .. block.identifier),
                pandoc.Span(page[block.identifier] or "", { class = "page" }),
            } }, { class = "level" .. block.level })
        end
    end
    return pandoc.Div({ pandoc.Header(1, "Contents"), pandoc.Div(items, { class = "pages" }) })
end

function Pandoc(doc)
    for i, chapter in ipairs(chapters) do
        if doc.meta.slug and chapter.slug == pandoc.utils.stringify(doc.meta.slug) then
            doc.meta.pagetitle = chapter.title
            doc.meta.part = chapter.part ~= "" and "Part " .. chapter.part or nil
            local before, after = chapters[i - 1], chapters[i + 1]
            if before then doc.meta.prev = { page = before.slug .. ".html", title = before.title } end
            if after then doc.meta.next = { page = after.slug .. ".html", title = after.title } end
        end
    end
    local body = pandoc.Div(doc.blocks)
    if list then
        local first = doc.blocks[1]
        local title = first and first.t == "Header" and pandoc.utils.stringify(first) or "Contents"
        body = pandoc.walk_block(body, { Header = function(el) return at_heading(el, title) end })
    end
    local blocks = pandoc.walk_block(body, {
        Link = link, Div = div, Code = code, Para = paragraph, Figure = captioned,
    }).content
    blocks = pandoc.walk_block(pandoc.Div(blocks), { Blocks = named_once }).content
    if #at_the_end > 0 then
        blocks:insert(pandoc.Header(1, "Solutions and answers", { id = "solutions" }))
        blocks:extend(at_the_end)
    end
    if print_list then
        local at = 1
        for i, block in ipairs(blocks) do
            if block.t == "Header" and block.level == 1 and block.identifier ~= "chindex" then
                at = i
                break
            end
        end
        blocks:insert(at, contents_of(blocks))
    end
    doc.blocks = blocks
    if #moving > 0 then doc.meta.figures = moving end
    return doc
end
