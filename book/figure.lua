-- Figures that a reader can move. figures/NAME.lua describes one: its controls, and a function that
-- draws a state. The book draws all states when it is made. A page's script, figure.js, only shows
-- them; the EPUB, the PDF and a page without scripts have a still picture, one of the states.
--
-- A description returns a table:
--   alt, try   what is seen, and what to try
--   width, height   of the drawing
--   base, over   SVG that never moves, below what does, and (if any) above it
--   controls   a list: name, label, values, start (an index); shown, a function that gives a value
--              its words; still, the index in the still picture, if that is not start. kind =
--              "switch" is a button that is on or off; back and forward are labels of buttons
--              beside a range
--   draw       takes the values by their names; gives SVG, and the state in words
-- The drawing is 340 wide, as a phone's page is, so that letters of 10 can be read there.
local M = {}

local here = PANDOC_SCRIPT_FILE:match("^(.*)/[^/]*$") or "."

local function text_of(path)
    local file = io.open(path)
    if not file then return nil end
    local text = file:read("a")
    file:close()
    return text
end

-- For the descriptions ----------------------------------------------------------------------------
function M.text(x, y, class, ...)
    local format = '<text x="%g" y="%g" class="%s">%s</text>'
    return format:format(x, y, class, table.concat({ ... }))
end

function M.circle(class, x, y, r)
    return string.format('<circle class="%s" cx="%g" cy="%g" r="%g"/>', class, x, y, r)
end

-- A path of a list of these below.
function M.path(class, parts)
    return string.format('<path class="%s" d="%s"/>', class, table.concat(parts))
end

function M.box(x, y, width, height)
    return string.format("M%g %gh%gv%gh-%gz", x, y, width, height, width)
end

function M.across(x, y, width) return string.format("M%g %gh%g", x, y, width) end

function M.down(x, y, height) return string.format("M%g %gv%g", x, y, height) end

-- The lines of a table.
function M.grid(x, y, columns, rows, width, height)
    local list = {}
    for i = 0, columns do list[#list + 1] = M.down(x + i * width, y, rows * height) end
    for i = 0, rows do list[#list + 1] = M.across(x, y + i * height, columns * width) end
    return table.concat(list)
end

-- A text of several lines as one.
function M.prose(lines) return (lines:gsub("^%s+", ""):gsub("%s+", " ")) end

-- 4096 as 4,096.
function M.number(n)
    return (tostring(n):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

-- 1 sector, 2 sectors
function M.count(n, name)
    return M.number(n) .. " " .. name .. (n == 1 and "" or "s")
end

-- Reading and drawing -----------------------------------------------------------------------------
function M.file_of(name) return here .. "/figures/" .. name .. ".lua" end

function M.read(name)
    if not text_of(M.file_of(name)) then return nil end
    local env = setmetatable({ figure = M }, { __index = _G })
    local f = assert(loadfile(M.file_of(name), "t", env))()
    f.name = name
    return f
end

local function values_at(f, at)
    local v = {}
    for i, control in ipairs(f.controls) do v[control.name] = control.values[at[i]] end
    return v
end

local function still_state(f)
    local at = {}
    for i, control in ipairs(f.controls) do at[i] = control.still or control.start end
    return f.draw(values_at(f, at))
end

-- All states, the last control's value changing fastest.
local function all_states(f)
    local list, at = {}, {}
    local function from(i)
        if i > #f.controls then
            list[#list + 1] = { f.draw(values_at(f, at)) }
            return
        end
        for n = 1, #f.controls[i].values do
            at[i] = n
            from(i + 1)
        end
    end
    from(1)
    return list
end

local function escaped(text)
    return (text:gsub("&", "&amp;"):gsub("<", "&lt;"):gsub(">", "&gt;"):gsub('"', "&quot;"))
end

local function svg(f, attributes, before)
    local start = '<svg viewBox="0 0 %g %g" role="img" %s aria-label="%s">'
    local moves = '<g class="moves">' .. still_state(f) .. "</g>"
    return start:format(f.width, f.height, attributes, escaped(f.alt))
        .. before .. f.base .. moves .. (f.over or "") .. "</svg>"
end

-- The still picture as a file of its own: colours and rules are those of the pages.
function M.still(name)
    local f = M.read(name)
    local pairs_of = text_of(here .. "/code.css"):match(":root (%b{})")
    local light = pairs_of:gsub("light%-dark%((#%x+), #%x+%)", "%1")
    local dark = pairs_of:gsub("light%-dark%(#%x+, (#%x+)%)", "%1")
    local colours = ":root " .. light .. " @media (prefers-color-scheme: dark) { :root " .. dark .. " }\n"
    local rules = "<style>" .. colours .. text_of(here .. "/figure.css"):match("/%* Shapes "
        .. "%*/(.*)$") .. "</style>"
    local ground = string.format('<rect class="ground" width="%g" height="%g"/>', f.width, f.height)
    local size = 'xmlns="http://www.w3.org/2000/svg" width="%g" height="%g"'
    return svg(f, size:format(f.width, f.height), rules .. ground)
end

local function quoted(text)
    return '"' .. text:gsub('["\\]', "\\%0"):gsub("\n", "\\n") .. '"'
end

-- All states, for figure.js.
function M.states(name)
    local lines = {}
    for i, state in ipairs(all_states(M.read(name))) do
        lines[i] = "[" .. quoted(state[1]) .. "," .. quoted(state[2]) .. "]"
    end
    return "figure(" .. quoted(name) .. ", [\n" .. table.concat(lines, ",\n") .. "\n]);"
end

local function control_html(control, id)
    local words = {}
    for i, value in ipairs(control.values) do
        words[i] = control.shown and control.shown(value) or tostring(value)
    end
    if control.kind == "switch" then
        return string.format('<button type="button" class="at" aria-pressed="%s">%s</button>',
            control.start == 2, escaped(control.label))
    end
    local shown = escaped(words[control.start])
    local html = string.format('<label for="%s">%s</label> '
        .. '<input type="range" class="at" id="%s" min="0" max="%d" value="%d" aria-valuetext="%s" '
        .. 'data-words="%s"> <span class="value" aria-hidden="true">%s</span>', id,
        escaped(control.label), id, #words - 1, control.start - 1, shown,
        escaped(table.concat(words, "|")), shown)
    for _, way in ipairs { { "back", -1 }, { "forward", 1 } } do
        if control[way[1]] then
            local button = ' <button type="button" data-moves="%s" data-by="%d">%s</button>'
            html = html .. button:format(id, way[2], escaped(control[way[1]]))
        end
    end
    return html
end

-- The figure on a page, without its end: the caption follows. Its controls are shown when the
-- script runs.
function M.page(name)
    local f = M.read(name)
    local _, words = still_state(f)
    local group = '<div class="controls" role="group" aria-label="Controls of the figure" '
        .. 'aria-describedby="try-%s" hidden>'
    local try = '<p class="try" id="try-%s" hidden><strong>Try:</strong> %s</p>'
    local html = { '<figure class="moving" data-figure="' .. name .. '">', svg(f, "", ""),
        group:format(name) }
    for _, control in ipairs(f.controls) do
        local id = name .. "-" .. control.name
        html[#html + 1] = "<div>" .. control_html(control, id) .. "</div>"
    end
    html[#html + 1] = '</div>\n<p class="said" role="status">' .. escaped(words) .. "</p>"
    html[#html + 1] = try:format(name, escaped(f.try))
    html[#html + 1] = "<figcaption>"
    return table.concat(html, "\n")
end

return M
