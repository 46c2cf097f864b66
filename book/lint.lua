-- Finds rows that an empty line cut off from their table, and measured numbers that were typed into prose, or into
-- the description of a chart. Two rules:
--   a number followed by a unit of measurement (3.1 us, 1.66x, 12 %, 40 cycles) always counts as measured;
--   a number of three significant digits or more counts if it is in a row of a step that the chapter shows, or
--   of a file that the chapter reads.
-- Code, math, looked-up figures and verdicts, .claim, .given and .claimtable are exempt: they
-- become HIDDEN before the search.
local M = {}
local HIDDEN = "\1"

local UNITS = {}
local NAMES = [[ns us µs μs ms s TB/s GB/s MB/s kB/s KB/s TFLOP/s GFLOP/s MFLOP/s TFLOPS GFLOPS
    x × times % percent nanosecond nanoseconds microsecond microseconds millisecond milliseconds
    second seconds cycles clocks GB MB W watts GHz MHz TFLOP GFLOP]]
for unit in NAMES:gmatch("%S+") do
    UNITS[unit] = true
end
-- Columns of counts: only the same integer repeats such a value.
local EXACT = { wrong = true, nan = true }
local SHAPE = { "B", "H", "Sq", "Sk", "D", "R", "pos0" }
-- Columns without measured values.
local OTHER = { step = 1, causal = 1, n = 1, bytes = 1, flops = 1, device_bytes = 1, total = 1, err_bound = 1 }
for _, column in ipairs(SHAPE) do OTHER[column] = 1 end

local function exempt(element)
    for _, class in ipairs { "claim", "given", "fig", "verdict", "claimtable", "hint", "predict" } do
        if element.classes:includes(class) then return true end
    end
    return false
end

-- Each run of text in the document as a string, with exempt parts hidden.
local function texts(doc)
    local hide = function() return pandoc.Str(HIDDEN) end
    local drop = function() return {} end
    local plain = pandoc.walk_block(pandoc.Div(doc.blocks), {
        Code = hide, Math = hide, RawInline = hide, CodeBlock = drop, RawBlock = drop,
        Span = function(el) if exempt(el) then return pandoc.Str(HIDDEN) end end,
        Div = function(el) if exempt(el) then return {} end end,
    })
    local found = {}
    local function keep(inlines) found[#found + 1] = pandoc.utils.stringify(inlines) end
    local function take(el) keep(el.content) end
    pandoc.walk_block(plain, {
        Para = take, Plain = take, Header = take,
        LineBlock = function(el) for _, line in ipairs(el.content) do keep(line) end end,
        DefinitionList = function(el)
            for _, item in ipairs(el.content) do keep(item[1]) end
        end,
    })
    return found
end

-- The unit that follows a number, or nil. "4 x 64" and "S x S" are shapes, "the 1990s" and "all 0s"
-- are plurals.
local function unit_after(number, rest)
    local gap, tail = rest:match("^([ -]?)(.*)$")
    local unit = tail:match("^%%")
    for _, letters in ipairs { "µs", "μs", "×" } do
        if tail:sub(1, #letters) == letters then unit = letters end
    end
    for _, letters in ipairs { tail:match("^%a+") or "", tail:match("^%a+/%a+") or "" } do
        if UNITS[letters] then unit = letters end
    end
    if not unit then return nil end
    local after = tail:sub(#unit + 1)
    if after:match("^[%w_]") then return nil end
    if unit == "x" or unit == "×" then
        if after:match("^ ?[%d\1]") or (gap ~= "" and after:match("^ ?%u")) then return nil end
    end
    if unit == "s" and gap == "" and (number:match("^[01]$") or number:match("^%d%d%d%d$")) then
        return nil
    end
    return unit, gap
end

local function significant(number)
    local digits = number:gsub("[eE].*$", ""):gsub("%D", ""):gsub("^0+", "")
    if not number:find("%.") then digits = digits:gsub("0+$", "") end
    return #digits
end

local function power_of_two(v)
    while v > 1 and v % 2 == 0 do v = v / 2 end
    return v == 1
end

-- The measured values of one file's rows: a list of {value, name, exact, counted}. Adds the rows' shape values
-- to the set `shapes`.
local function measured(t, name, shapes)
    local list = {}
    local counted = name:match("counts$")
    for column, at in pairs(t.index) do
        for _, row in ipairs(t.rows) do
            local value = tonumber(row[at])
            if value and not OTHER[column] then
                list[#list + 1] = { value = value, name = name .. " " .. column,
                    exact = EXACT[column], counted = counted }
            elseif value then
                shapes[value] = true
            end
        end
    end
    return list
end

-- The name of the recorded value that a typed number repeats, or nil. An integer that is also a shape or a
-- power of two is compared only with the columns that count wrong elements: a time that happens to round to 256
-- proves nothing. Counts of kernels' work are integers, which mean much else when they are small: so only
-- numbers of four digits or more are compared with them.
local function recorded(number, known, shapes)
    local typed = number:gsub(",", "")
    local value = tonumber(typed)
    if not value or significant(typed) < 3 then return nil end
    local decimals = #(typed:match("%.(%d*)") or "")
    local format = "%." .. decimals .. (typed:match("[eE]") and "e" or "f")
    local whole = not typed:find("[%.eE]")
    local long = whole and significant(typed) > 3
    local by_chance = whole and (shapes[value] or power_of_two(value))
    for _, list in ipairs(known) do
        for _, item in ipairs(list) do
            if item.exact then
                if whole and item.value == value then return item.name end
            elseif not by_chance and (long or not item.counted)
                and tonumber(string.format(format, item.value)) == value then
                return item.name
            end
        end
    end
    return nil
end

-- Calls report(message, the text to find in the source) for every typed number in a chapter, or in a line of text.
-- A line of text cannot mark given numbers, so an integer without a unit counts as given there. tables:
-- { ["step-03"] = the rows of that file }.
function M.check(doc, tables, report)
    local known, shapes = {}, {}
    for name, t in pairs(tables) do
        known[#known + 1] = measured(t, name, shapes)
    end
    if type(doc) ~= "string" then
        -- pandoc takes a row behind an empty line for a line block.
        doc:walk { LineBlock = function(el)
            local row = pandoc.utils.stringify(el.content[1])
            report("the row of " .. row:match("^%S*") .. " stands outside of its table: delete the empty line above it",
                row:sub(1, 12))
        end }
    end
    for _, text in ipairs(type(doc) == "string" and { doc } or texts(doc)) do
        text = text:gsub("\194\160", " "):gsub("\226\128\175", " "):gsub("\n", " ")
        local at = 1
        while true do
            local first, last = text:find("%d[%d,]*%.?%d*", at)
            if not first then break end
            while text:sub(last, last):match("[.,]") do last = last - 1 end
            local exponent = text:match("^[eE][-+]?%d+", last + 1)
            if exponent then last = last + #exponent end
            local number = text:sub(first, last)
            local before = text:sub(first - 1, first - 1)
            local previous = text:sub(first - 2, first - 2)
            local name = before:match("[%w_]") or (before:match("[-.]") and previous:match("[%a_]"))
            at = last + 1
            if not name then
                local unit, gap = unit_after(number, text:sub(last + 1))
                if unit then
                    local typed = number .. gap .. unit
                    report(typed .. " is typed: look it up with [step=.. col=..]{.fig}, or mark it "
                        .. "{.claim by=..} or {.given}", typed)
                elseif not text:sub(last + 1):match("^[%a_]") then
                    local line = type(doc) == "string" and not number:find(".", 1, true)
                    local where = not line and recorded(number, known, shapes)
                    if where then
                        report(number .. " is typed and equals " .. where .. ": look it up with "
                            .. "[step=.. col=..]{.fig}, or mark it {.given} if by chance", number)
                    end
                end
            end
        end
    end
end

return M
