-- Turns one chapter into a document with its code, charts, figures, tables and outputs in place.
-- If anything is missing, ambiguous or a typed measurement, reports one line for each, and writes nothing.
-- Environment: BOOK_PLOTS, BOOK_DATA, BOOK_DEVICE, BOOK_OUTPUTS, BOOK_CONTENTS (contents.awk), BOOK_USED (file to
-- write: the snippets used, for lint.awk), BOOK_SIZE (file to write: the length of the chapter). Links leave as
-- page:SLUG#ID and source:NN#LINE; links.lua resolves them, and makes the folds.
local here = PANDOC_SCRIPT_FILE:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;" .. package.path
local rows = require("rows")
local lint = require("lint")
local moving = require("figure")

local chapter = PANDOC_STATE.input_files[1]
local slug = chapter:match("([^/]*)%.md$")
-- The number that a chapter's name begins with: "00" or, of a page between two chapters, "00a".
local function number_of(name) return name:match("^%d+%l?%f[%W]") end
local prefix = "ch" .. (number_of(slug) or slug)
local env = {}
for _, name in ipairs { "PLOTS", "DATA", "DEVICE", "OUTPUTS", "CONTENTS", "USED", "SIZE" } do
    env[name:lower()] = os.getenv("BOOK_" .. name) or error("BOOK_" .. name .. " is not set")
end

local function lines_of(path)
    local file = io.open(path)
    if not file then return nil end
    local list = {}
    for line in file:lines() do list[#list + 1] = line end
    file:close()
    return list
end

-- Errors ------------------------------------------------------------------------------------------
-- The parser keeps no line numbers, so a message finds its line by searching the source for its text, with any
-- blanks equal.
local source_lines = lines_of(chapter)
local function flatten(keep_code)
    local text, starts, fenced = {}, {}, false
    local length = 0
    for n, line in ipairs(source_lines) do
        local fence = line:match("^%s*```")
        local piece = ""
        if keep_code or not (fenced or fence) then
            piece = line:gsub("%s+", " "):gsub("\\ ", " ")
        end
        if fence then fenced = not fenced end
        starts[n] = length + 1
        text[n] = piece
        length = length + #piece + 1
    end
    return table.concat(text, " "), starts
end

local errors = {}
local function fail(message, needle, in_prose)
    local text, starts = flatten(not in_prose)
    local line = 0
    local pos = needle and text:find(needle, 1, true)
    while in_prose and pos and text:sub(pos - 1, pos - 1):match("[%w.]") do
        pos = text:find(needle, pos + 1, true)
    end
    if pos then for n, start in ipairs(starts) do if start <= pos then line = n end end end
    local place = chapter .. ":" .. (line > 0 and line .. ":" or "")
    errors[#errors + 1] = { line = line, text = place .. " " .. message }
end

local function finish_errors()
    if #errors == 0 then return end
    table.sort(errors, function(a, b) return a.line < b.line end)
    for _, e in ipairs(errors) do io.stderr:write(e.text, "\n") end
    os.exit(1)
end

-- The parts of the book ---------------------------------------------------------------------------
local steps, chapters, owner = {}, {}, {}
for _, line in ipairs(lines_of(env.contents) or error("cannot read " .. env.contents)) do
    local f = {}
    for field in (line .. "\t"):gmatch("([^\t]*)\t") do f[#f + 1] = field end
    if f[1] == "step" then steps[f[2]] = { dir = f[3], file = f[4], title = f[5] } end
    if f[1] == "chapter" then chapters[f[2]] = { title = f[4], part = f[5] } end
    if f[1] == "has" and not owner[f[3]] then owner[f[3]] = f[2] end
end

local shown = {}  -- steps that this chapter shows
local function step_of(nn, what, needle)
    if not nn or not nn:match("^%d%d$") then
        fail(what .. ": step=" .. (nn or "") .. " is not a step's two-digit number", needle)
        return nil
    end
    if not steps[nn] then
        fail(what .. ": there is no step " .. nn, needle)
        return nil
    end
    shown[nn] = true
    return steps[nn]
end

-- Code --------------------------------------------------------------------------------------------
-- A block names a step= or, for shared code, a file= of the repository.
local used = {}
local function is_marker(line)
    local kind = line:gsub("^%s*//%s*end ", "//"):match("^%s*//%s*(%l+): ")
    return kind == "snippet" or kind == "solution" or kind == "hint"
end

-- The lines without their common indentation.
local function dedent(lines)
    local indent
    for _, line in ipairs(lines) do
        local depth = line:match("%S") and #line:match("^ *")
        if depth and (not indent or depth < indent) then indent = depth end
    end
    for i, line in ipairs(lines) do lines[i] = line:sub((indent or 0) + 1) end
    return indent and table.concat(lines, "\n")
end

-- The lines between a snippet's markers, with each solution left blank, as an exercise leaves it; the numbers of
-- the first and the last line; the solutions.
local function cut(file, name)
    local lines = lines_of(file)
    if not lines then return nil, "does not exist" end
    local first, last, solution
    local kept, solutions = {}, {}
    for n, line in ipairs(lines) do
        local open = line:match("^%s*//%s*snippet: (%S+)%s*$")
        local close = line:match("^%s*//%s*end snippet: (%S+)%s*$")
        local indent, asked, task = line:match("^(%s*)//%s*solution: (%S+) %-%- (.*)$")
        if open == name then
            if first then return nil, "marks snippet " .. name .. " twice" end
            first = n + 1
        elseif close == name then
            if not first or last then
                return nil, "ends snippet " .. name .. " without starting it"
            end
            last = n - 1
        end
        if asked then
            solution = { name = asked, task = task, indent = indent, lines = {}, hints = {} }
        elseif line:match("^%s*//%s*end solution: ") then
            solution = nil
        end
        local inside = first and n >= first and not last
        if inside and solution and solutions[#solutions] ~= solution then
            solutions[#solutions + 1] = solution
            kept[#kept + 1] = solution.indent .. "// YOUR CODE: " .. solution.task
        end
        -- A hint goes on in lines with four blanks more, up to the first line of another kind.
        local hint = line:match("^%s*//%s*hint: (.*)$")
        local more = solution and #solution.lines == 0 and #solution.hints > 0 and line:match("^%s*//%s%s%s%s+(.*)$")
        if solution and hint then
            solution.hints[#solution.hints + 1] = hint
        elseif more then
            solution.hints[#solution.hints] = solution.hints[#solution.hints] .. " " .. more
        elseif not is_marker(line) then
            if solution then
                solution.lines[#solution.lines + 1] = line
            elseif inside then
                kept[#kept + 1] = line
            end
        end
    end
    if not first then return nil, "has no snippet " .. name end
    if not last then return nil, "never ends snippet " .. name end
    local text = dedent(kept)
    if not text then return nil, "has nothing in snippet " .. name end
    return text, first, last, solutions
end

local function code_block(text, class)
    return pandoc.CodeBlock(text, pandoc.Attr("", { class }, { tabindex = "0" }))
end

-- A part that a reader opens: links.lua folds it on a page, and moves it to the end of the book in print.
local n_folded = 0
local function folded(class, step, title, blocks)
    n_folded = n_folded + 1
    return pandoc.Div(blocks, pandoc.Attr(prefix .. "-" .. class .. "-" .. n_folded, { class },
        { title = title, step = step or "" }))
end

-- Words, and code in backquotes.
local function plain_text(text)
    local inlines, in_code = pandoc.List(), false
    for piece in (text .. "`"):gmatch("([^`]*)`") do
        if in_code then
            inlines:insert(pandoc.Code(piece))
        else
            for blank, word in piece:gmatch("(%s*)(%S*)") do
                if blank ~= "" then inlines:insert(pandoc.Space()) end
                if word ~= "" then inlines:insert(pandoc.Str(word)) end
            end
        end
        in_code = not in_code
    end
    return inlines
end

local function listing(el)
    local a = el.attributes
    local where = a.file or "step " .. (a.step or "(no step)")
    local what = "snippet " .. (a.snippet or "(no name)") .. " of " .. where
    local needle = "snippet=" .. (a.snippet or "")
    local step = a.file or step_of(a.step, what, needle)
    if not step then return end
    local path = a.file or step.file
    if el.text:match("%S") then
        return fail(what .. ": the block must be empty, its code comes from " .. path, needle)
    end
    local text, first, last, solutions = cut(path, a.snippet or "")
    if not text then return fail(what .. ": " .. path .. " " .. first, needle) end
    used[#used + 1] = path .. "\t" .. a.snippet
    local range = pandoc.Str(path .. ":" .. first .. "–" .. last)
    -- Files beside a step are on the step's page.
    local nn, beside = path:match("steps/(%d%d)%-[^/]*/([^/]*)%.cuh$")
    local target = a.step and a.step .. "#L-" or steps[nn] and nn .. "#" .. beside .. "-"
    local from = target and pandoc.Link({ range }, "source:" .. target .. first) or range
    local blocks = { pandoc.Div({
        pandoc.Div({ pandoc.Plain { from } }, { class = "from" }),
        code_block(text, "cuda"),
    }, { class = "listing" }) }
    for _, solution in ipairs(solutions) do
        local code = dedent(solution.lines)
        local items = {}
        for i, hint in ipairs(solution.hints) do items[i] = { pandoc.Plain(plain_text(hint)) } end
        if #items > 0 then blocks[#blocks + 1] = folded("hint", path:match("steps/(%d%d)"),
            "Hints: " .. solution.task, { pandoc.OrderedList(items) }) end
        if code then blocks[#blocks + 1] = folded("solution", path:match("steps/(%d%d)"),
            "Solution: " .. solution.task, { code_block(code, "cuda") }) end
    end
    return blocks
end

-- Output ------------------------------------------------------------------------------------------
-- One file name for one command; deps.awk has the same function.
local function encode(s)
    return (s:gsub("[^%w.-]", function(c)
        return c == " " and "_" or string.format("+%02x", c:byte())
    end))
end

-- Breaks a line that is longer than the page at a blank. Continuation lines are indented.
local WIDTH = 100
local function fold(line)
    if #line <= WIDTH then return line end
    local indent = (" "):rep(12)
    local folded, rest, room = {}, line, WIDTH
    while #rest > room do
        local at
        for i = room + 1, #indent + 1, -1 do
            if rest:sub(i, i) == " " then at = i break end
        end
        if not at then break end
        folded[#folded + 1] = (rest:sub(1, at - 1):gsub(" +$", ""))
        rest = indent .. rest:sub(at):gsub("^ +", "")
    end
    folded[#folded + 1] = rest
    return table.concat(folded, "\n")
end

local function printed(typed, lines)
    for i, line in ipairs(lines) do lines[i] = fold(line) end
    return pandoc.Div({
        pandoc.Div({ pandoc.Plain { pandoc.Code("$ " .. typed) } }, { class = "from" }),
        code_block(table.concat(lines, "\n"), "text"),
    }, { class = "output" })
end

-- Of a long output, `only` says which lines are shown, as patterns with "|" between them; three dots stand for the others.
local function some_of(lines, only)
    local kept, used_up = {}, {}
    for _, line in ipairs(lines) do
        local wanted
        for pattern in only:gmatch("[^|]+") do
            if line:find(pattern) then
                wanted = true
                used_up[pattern] = true
            end
        end
        if wanted then
            kept[#kept + 1] = line
        elseif kept[#kept] ~= "..." and line ~= "" then
            kept[#kept + 1] = "..."
        end
    end
    for pattern in only:gmatch("[^|]+") do
        if not used_up[pattern] then return nil, pattern end
    end
    return kept
end

-- A program's output, below the command that was typed. The first line of the file is the exit status.
local function shown_output(what, needle, name, exit, typed, only)
    local lines = lines_of(env.outputs .. "/" .. name .. ".txt")
    if not lines then return fail(what .. ": the program was not run", needle) end
    local status = table.remove(lines, 1):match("^exit (%d+)$")
    if status ~= (exit or "0") then
        return fail(what .. ": exit status " .. tostring(status) .. ", not " .. (exit or "0")
            .. ": " .. (lines[#lines] or "no output"), needle)
    end
    if only then
        local kept, unseen = some_of(lines, only)
        local asked = 'only="' .. only .. '"'
        if not kept then return fail(what .. ": " .. asked .. ": no line has " .. unseen, asked) end
        lines = kept
    end
    return printed(typed, lines)
end

-- Recorded output of a program that is not on the machine where the book is made. The file begins with the
-- command: "$ command".
local function recorded_output(el)
    local path = el.attributes.file or "(no file)"
    local lines = lines_of(path)
    if not lines then return fail("recorded output: " .. path .. " does not exist", path) end
    local typed = (table.remove(lines, 1) or ""):match("^%$ (.+)$")
    if not typed then
        return fail("recorded output: " .. path .. " does not begin with its command, \"$ command\"", path)
    end
    return printed(typed, lines)
end

-- command=count and command=check run the program built with that instrument. example= is a source outside of the
-- steps, and command= then says how cudacc builds it. rule= are the words of `make rule`.
local function output(el)
    local a = el.attributes
    local args = a.args or ""
    local command = a.command or "run"
    if a.example then
        local flag = command == "run" and "" or "--" .. command .. " "
        return shown_output("output of " .. a.example, "example=" .. a.example, encode(a.example .. " " .. command),
            a.exit, "common/cpu/cudacc " .. flag .. "-run " .. a.example, a.only)
    end
    if a.rule then
        return shown_output("output of make rule " .. a.rule, 'rule="' .. a.rule .. '"', encode("rule " .. a.rule),
            a.exit, 'make rule ARGS="' .. a.rule .. '"', a.only)
    end
    local setting = a.order and "CUDACPU_ORDER=" .. a.order or ""
    local what = "output of step " .. (a.step or "(no step)") .. " " .. args
    local needle = a.args and 'args="' .. a.args .. '"' or ".output"
    if not step_of(a.step, what, needle) then return end
    if command ~= "run" and command ~= "count" and command ~= "check" then
        return fail(what .. ": command=" .. command .. " is not run, count or check", needle)
    end
    local name = encode(a.step .. " " .. command .. " " .. setting .. " " .. args)
    if args ~= "" then args = " " .. args end
    local typed = "make step-" .. a.step .. " " .. command
        .. ' BACKEND=cpu ARGS="--seed 1' .. args .. '"'
    if setting ~= "" then typed = setting .. " " .. typed end
    return shown_output(what, needle, name, a.exit, typed, a.only)
end

-- Figures and tables from rows --------------------------------------------------------------------
local UNIT = { us = " µs", x = "×", ["%"] = " %" }

local tables = {}  -- the rows that the chapter reads, by the name of their file
local function rows_of(a, what, needle)
    local name = a.file
    if not name then
        if not step_of(a.step, what, needle) then return nil end
        name = "step-" .. a.step
    end
    local path = env.data .. "/" .. (a.device or env.device) .. "/" .. name .. ".tsv"
    local t, why = rows.read(path)
    if not t then fail(what .. ": " .. why, needle) end
    tables[name] = t
    return t, path
end

-- 16384 as 16,384; four digits stay as they are.
local function separated(text)
    local sign, whole, rest = text:match("^(%-?)(%d%d%d%d%d+)(%.?%d*)$")
    if not whole then return text end
    return sign .. whole:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "") .. rest
end

-- The same for counts in prose and in formulas.
local function given_count(el)
    if el.text:match("^:::+$") then
        fail("a ::: stands in the text, and begins or ends no block: it needs an empty line in front")
    end
    local before, number, after = el.text:match("^(%p*)(%d%d%d%d%d+)(%p*)$")
    if number then return pandoc.Str(before .. separated(number) .. after) end
end

-- A number and its unit stay on one line.
local function unbroken(el)
    return pandoc.walk_inline(el, { Space = function() return pandoc.Str("\u{a0}") end })
end

local function given_counts(el)
    local text = el.text:gsub("%f[%w.]%d%d%d%d%d+%f[^%w]", function(number)
        return "\\text{" .. separated(number) .. "}"
    end)
    if text ~= el.text then return pandoc.Math(el.mathtype, text) end
end

-- A short formula and the full stop or comma after it stay on one line.
local function with_its_stop(inlines)
    local kept = pandoc.List()
    for _, el in ipairs(inlines) do
        local before = kept[#kept]
        if el.t == "Str" and el.text:match("^[.,;:)?]+$") and before and before.t == "Math"
            and before.mathtype == "InlineMath" and #before.text < 24 then
            kept[#kept] = pandoc.Span({ before, el }, { class = "one-line" })
        else
            kept:insert(el)
        end
    end
    return kept
end

-- A field as text, or nil and the reason. "-" has no value to show; a format needs a number.
local function show(raw, format, scale)
    if raw == nil or raw == "-" then return nil, "has no value there" end
    if not format and not scale then return separated(raw) end
    local value = tonumber(raw)
    if not value then return nil, "is " .. raw .. ", not a number" end
    local ok, text = pcall(string.format, format or "%g", value * (scale or 1))
    if not ok then return nil, "cannot be printed with fmt=" .. format end
    return separated(text)
end

-- A row's value in a column, or the quotient of two columns: "sectors/requests". The numerator may be a number:
-- "100/ratio" is a share in per cent.
local function value_of(t, row, column)
    local above, below = column:match("^(.+)/(.+)$")
    if not above then return row[t.index[column]] end
    above = tonumber(above) or tonumber(row[t.index[above]])
    below = tonumber(row[t.index[below]])
    return above and below and below ~= 0 and above / below or "-"
end

-- The first name in `column` that is no column, or nil.
local function missing_of(t, column)
    column = column:gsub("^%d+/", "")
    for name in column:gmatch("[^/]+") do
        if not t.index[name] then return name end
    end
end

-- Reads the text of [key=value ...]{.fig} and {.verdict}: the reserved keys, and conditions on columns.
local function words_of(text, what, reserved)
    local a, conditions = {}, {}
    for word in text:gmatch("%S+") do
        local key, value = word:match("^([%w_]+)=(.+)$")
        if not key then return fail(what .. ": " .. word .. " is not key=value", text) end
        if reserved[key] then a[key] = value else conditions[key] = value end
    end
    return a, conditions
end

local function rows_that(t, path, conditions, what, text)
    local found, missing = rows.select(t, conditions)
    if not found then return fail(what .. ": " .. path .. " has no column " .. missing, text) end
    return found
end

local function origin_of(path, text)
    return path .. ": " .. text:gsub("%f[%w_]step=%S+ ?", ""):gsub("%f[%w_]file=%S+ ?", "")
end

-- The value of the one row that a figure names, as text, and the path of its file.
local function value_named(a, conditions, what, text)
    local t, path = rows_of(a, what, text)
    if not t then return end
    local missing = a.col ~= "count" and missing_of(t, a.col)
    if missing then return fail(what .. ": " .. path .. " has no column " .. missing, text) end
    local found = rows_that(t, path, conditions, what, text)
    if not found then return end
    if #found ~= 1 and (a.col ~= "count" or #found == 0) then
        return fail(what .. ": " .. #found .. " rows of " .. path .. " match, not 1", text)
    end
    return tostring(a.col == "count" and #found or value_of(t, found[1], a.col)), path
end

-- Words that begin with over_ name a second row, which otherwise meets the first row's conditions. The figure is the
-- first row's value divided by the second row's; with plus_, divided by the sum of the second row's and a third
-- row's. With over_NAME=any the second row may have any NAME, or none.
local function row_beside(prefix, a, others, conditions)
    local row, rest, any = { col = a.col, device = a.device }, {}, false
    for key, value in pairs(others) do rest[key] = value end
    for key, value in pairs(conditions) do
        local name = key:match("^" .. prefix .. "(.+)$")
        if name == "file" or name == "step" then
            row[name] = value
        elseif name then
            rest[name] = value ~= "any" and value or nil
        end
        any = any or name
    end
    -- The rows of a step's file need no condition on the step.
    if row.step and not row.file then rest.step = nil end
    if not row.file and not row.step then row.file, row.step = a.file, a.step end
    return any and row, rest
end

local function figure(el)
    local text = pandoc.utils.stringify(el.content)
    local what = "figure [" .. text .. "]"
    local a, conditions = words_of(text, what,
        { step = 1, file = 1, device = 1, col = 1, fmt = 1, scale = 1, unit = 1 })
    if not a then return end
    if not a.col then return fail(what .. ": says no col=", text) end
    -- With file=, step= is a condition on a column.
    if a.file and a.step then conditions.step = a.step end
    local scale = a.scale and tonumber(a.scale)
    if a.scale and not scale then
        return fail(what .. ": scale=" .. a.scale .. " is not a number", text)
    end
    local others = {}
    for key, value in pairs(conditions) do
        if not key:match("^over_") and not key:match("^plus_") then others[key] = value end
    end
    local over, of_over = row_beside("over_", a, others, conditions)
    local plus, of_plus = row_beside("plus_", a, others, conditions)
    if plus and not over then return fail(what .. ": plus_ without over_", text) end
    local raw, path = value_named(a, others, what, text)
    if not raw then return end
    if over then
        local below = value_named(over, of_over, what, text)
        local more = not plus and 0 or below and value_named(plus, of_plus, what, text)
        if not below or not more then return end
        below = tonumber(below) and tonumber(more) and tonumber(below) + tonumber(more)
        raw = tonumber(raw) and below and tonumber(raw) / below or "-"
    end
    local shown_text, why = show(tostring(raw), a.fmt, scale)
    if not shown_text then return fail(what .. ": " .. a.col .. " " .. why, text) end
    local unit = a.unit and (UNIT[a.unit] or " " .. a.unit) or ""
    return pandoc.Span(shown_text .. unit:gsub("^ ", "\194\160"),
        { class = "fig", title = origin_of(path, text) })
end

-- Claims ------------------------------------------------------------------------------------------
-- [step=07 case=D128 variant=v2 clock=graph l2=warm claim=0.042/0.035]{.verdict}: the claimed ratio, our ratio, the
-- verdict of each, and whether the verdicts agree. A claim may be a product or a quotient, so that a chapter can
-- have a log's own figures. base=VARIANT compares with that variant of the same case instead of the baseline,
-- base_step=NN with its row in another step: the result is the quotient of both ratios, as each was taken to the
-- same baseline in its own run. With claim=none our ratio is shown alone.
local MARGIN = 0.03  -- nearer to 1 than this is a tie

-- low and high: nearly all measured ratios are between them.
local function verdict_of(ratio, low, high)
    if low <= 1 and high >= 1 then return "ties" end
    if ratio >= 1 + MARGIN then return "wins" end
    if ratio <= 1 / (1 + MARGIN) then return "loses" end
    return "ties"
end

local function product_of(text)
    local value, rest = 1, "*" .. (text or "")
    while rest ~= "" do
        local sign, number, after = rest:match("^([*/])(%d+%.?%d*)(.*)$")
        if not sign or tonumber(number) == 0 then return nil end
        value = sign == "*" and value * tonumber(number) or value / tonumber(number)
        rest = after
    end
    return value
end

-- A row's ratio with its percentiles, and the path of the row's file.
local function ratio_of(a, conditions, what, text)
    local t, path = rows_of(a, what, text)
    local found = t and rows_that(t, path, conditions, what, text)
    if not found then return end
    if #found ~= 1 then
        return fail(what .. ": " .. #found .. " rows of " .. path .. " match, not 1", text)
    end
    local ratio = {}
    for i, column in ipairs { "ratio", "ratio_p5", "ratio_p95" } do
        if not t.index[column] then
            return fail(what .. ": " .. path .. " has no column " .. column, text)
        end
        ratio[i] = tonumber(found[1][t.index[column]])
        if not ratio[i] then return fail(what .. ": " .. column .. " has no value there", text) end
    end
    return ratio, path
end

local function verdict(el)
    local text = pandoc.utils.stringify(el.content)
    local what = "verdict [" .. text .. "]"
    local a, conditions = words_of(text, what,
        { step = 1, file = 1, device = 1, claim = 1, base = 1, base_step = 1 })
    if not a then return end
    local claimed = a.claim ~= "none"
    local claim = claimed and product_of(a.claim)
    if claimed and not claim then
        return fail(what .. ": claim=" .. (a.claim or "")
            .. " is no ratio: write 1.2 or 0.042/0.035", text)
    end
    local ours, path = ratio_of(a, conditions, what, text)
    if not ours then return end
    if a.base then
        conditions.variant = a.base
        a.step = a.base_step or a.step
        local base = ratio_of(a, conditions, what, text)
        if not base then return end
        -- The quotient, and the least and the greatest that the percentiles allow.
        ours = { ours[1] / base[1], ours[2] / base[3], ours[3] / base[2] }
    end
    local mine = verdict_of(table.unpack(ours))
    if not claimed then
        -- Two digits do not tell on which side of the margin it is.
        local said = string.format("%.2f", ours[1])
        if said == "1.03" or said == "0.97" then said = string.format("%.3f", ours[1]) end
        return pandoc.Span(said .. "×: " .. mine,
            { class = "verdict", title = origin_of(path, text) })
    end
    local theirs = verdict_of(claim, claim, claim)
    local ratios = string.format("%.2f× / %.2f×: ", claim, ours[1])
    local said = { pandoc.Str(ratios .. mine .. ", yes") }
    if theirs ~= mine then
        said = { pandoc.Str(ratios), pandoc.Strong { pandoc.Str(theirs .. " / " .. mine .. ", no") } }
    end
    return pandoc.Span(said, { class = "verdict", title = origin_of(path, text) })
end

local HEADS = {
    median_us = "median, µs", p5_us = "p5, µs", p95_us = "p95, µs", limit_us = "limit, µs",
    limit_pct = "% of limit", limit_by = "limited by", ratio = "ratio, ×", nan = "NaN",
    max_err = "largest error",
}

local function table_of(a, aligns, heads, body)
    local caption = a.caption and { pandoc.Str(a.caption) } or {}
    local widths = {}
    for i = 1, #aligns do widths[i] = 0 end
    local cells = function(line)
        local list = {}
        for i, text in ipairs(line) do list[i] = { pandoc.Plain { pandoc.Str(text) } } end
        return list
    end
    for i, line in ipairs(body) do body[i] = cells(line) end
    return pandoc.utils.from_simple_table(
        pandoc.SimpleTable(caption, aligns, widths, cells(heads), body))
end

-- The heads="a|b|c" of a table, as a list.
local function heads_of(a)
    local list = {}
    if not a.heads then return list end
    for head in (a.heads .. "|"):gmatch("([^|]*)|") do list[#list + 1] = head end
    return list
end

-- ```{.rows file=suite by=class cols="cpu=found tool=found" caption="..."}: for each value of the column `by` the
-- number of its rows, and how many of them meet each condition; then the same for all rows.
local function count_table(a, t, path, found, what, needle)
    local columns = {}
    for word in a.cols:gmatch("%S+") do
        local name, value = word:match("^([%w_]+)=(.+)$")
        if not name then
            return fail(what .. ": " .. word .. " is not column=value, and there is a by=", needle)
        end
        if not t.index[name] then
            return fail(what .. ": " .. path .. " has no column " .. name, needle)
        end
        columns[#columns + 1] = { at = t.index[name], value = value, name = name }
    end
    if not t.index[a.by] then
        return fail(what .. ": " .. path .. " has no column " .. a.by, needle)
    end
    local given = heads_of(a)
    local heads, aligns = { given[1] or a.by, given[2] or "rows" }, { pandoc.AlignLeft }
    for i, column in ipairs(columns) do heads[i + 2] = given[i + 2] or column.name end
    for i = 2, #heads do aligns[i] = pandoc.AlignRight end
    local body, place = {}, {}
    local all = { "all" }
    for i = 2, #heads do all[i] = 0 end
    for _, row in ipairs(found) do
        local group = row[t.index[a.by]]
        local line = place[group]
        if not line then
            line = { group:find("/") and group or (group:gsub("-", " ")) } -- a path stays as it is
            for i = 2, #heads do line[i] = 0 end
            body[#body + 1], place[group] = line, line
        end
        for _, counts in ipairs { line, all } do
            counts[2] = counts[2] + 1
            for i, column in ipairs(columns) do
                if row[column.at] == column.value then counts[i + 2] = counts[i + 2] + 1 end
            end
        end
    end
    body[#body + 1] = all
    for _, line in ipairs(body) do
        for i = 2, #heads do line[i] = tostring(line[i]) end
    end
    return table_of(a, aligns, heads, body)
end

-- The rows that a where= selects: "column=value", "column=one|two" and "column!=value".
local function rows_where(t, path, where, what, needle)
    local conditions, others = {}, {}
    for word in (where or ""):gmatch("%S+") do
        local key, no, value = word:match("^([%w_]+)(!?)=(.+)$")
        if not key then
            return fail(what .. ": where: " .. word .. " is not column=value", needle)
        end
        if no == "" and not value:find("|", 1, true) then
            conditions[key] = value
        elseif not t.index[key] then
            return fail(what .. ": " .. path .. " has no column " .. key, needle)
        else
            others[#others + 1] = { column = key, unwanted = no ~= "", values = value }
        end
    end
    local found, missing = rows.select(t, conditions)
    if not found then return fail(what .. ": " .. path .. " has no column " .. missing, needle) end
    for _, other in ipairs(others) do found = rows.filter(t, found, other) end
    if #found == 0 then
        return fail(what .. ": no row of " .. path .. " has " .. (where or ""), needle)
    end
    return found
end

-- ```{.rows step=02 where="clock=graph l2=warm" cols="case variant median_us:%.1f limit_pct:%.0f"
-- caption="..." and_file=peers and_where="..."}: a table of rows, and below them rows of another file with the same
-- columns.
local function row_table(el)
    local a = el.attributes
    local what = "table of rows, cols=" .. (a.cols or "")
    local needle = a.cols and 'cols="' .. a.cols .. '"' or ".rows"
    if not a.cols then return fail(what .. ": says no cols=", needle) end
    local t, path = rows_of(a, what, needle)
    if not t then return end
    local found = rows_where(t, path, a.where, what, needle)
    if not found then return end
    if a.by then return count_table(a, t, path, found, what, needle) end
    local columns, heads, aligns, body = {}, {}, {}, {}
    local given = heads_of(a)
    for word in a.cols:gmatch("%S+") do
        local name, format = word:match("^([%w_]+/?[%w_]*):?(.*)$")
        if not name or missing_of(t, name) then
            return fail(what .. ": " .. path .. " has no column " .. word, needle)
        end
        if format == "" then format = nil end
        columns[#columns + 1] = { name = name, format = format }
        heads[#columns] = given[#columns] or HEADS[name] or name
        local numeric = format or tonumber(value_of(t, found[1], name))
        aligns[#columns] = numeric and pandoc.AlignRight or pandoc.AlignLeft
    end
    local function add(from, chosen)
        for _, row in ipairs(chosen) do
            local line = {}
            for i, column in ipairs(columns) do
                local raw = value_of(from, row, column.name)
                local text, why = raw, nil
                -- The template arguments of a kernel are long and of no interest in a table.
                if column.name == "kernel" then raw = raw:gsub("<.*", "") end
                if raw ~= "-" then text, why = show(raw, column.format) else text = "–" end
                if not text then return fail(what .. ": " .. column.name .. " " .. why, needle) end
                line[i] = text
            end
            body[#body + 1] = line
        end
        return true
    end
    if not add(t, found) then return end
    if a.and_file then
        local other, its_path = rows_of({ file = a.and_file, device = a.device }, what, needle)
        if not other then return end
        for _, column in ipairs(columns) do
            if missing_of(other, column.name) then
                return fail(what .. ": " .. its_path .. " has no column " .. column.name, needle)
            end
        end
        local more = rows_where(other, its_path, a.and_where, what, needle)
        if not more or not add(other, more) then return end
    end
    return table_of(a, aligns, heads, body)
end

-- Charts and figures that move --------------------------------------------------------------------
local alts = {}
local function shown_figure(el, name)
    local described = moving.read(name)
    if not described then
        return fail("figure " .. name .. ": there is no " .. moving.file_of(name), el.src)
    end
    el.src = "figures/" .. name .. ".svg"
    el.attributes.alt = described.alt
    el.classes:insert("moving")
    return el
end

local function image(el)
    local name = el.src:match("^chart:(.+)$")
    if not name then
        local figure_name = el.src:match("^figure:(.+)$")
        if figure_name then return shown_figure(el, figure_name) end
        if not el.src:match("^%a+:") then
            fail("picture " .. el.src .. ": only chart:NAME or figure:NAME can be shown", el.src)
        end
        return
    end
    local script = env.plots .. "/" .. name .. ".gp"
    local lines = lines_of(script)
    if not lines then return fail("chart " .. name .. ": there is no " .. script, el.src) end
    local alt
    for i = 1, math.min(20, #lines) do alt = alt or lines[i]:match("^# alt: *(.+)$") end
    if not alt then
        return fail("chart " .. name .. ": " .. script .. " has no '# alt:' line", el.src)
    end
    alts[#alts + 1] = { chart = name, text = alt }
    el.src = "charts/" .. name .. ".svg"
    el.attributes.alt = alt
    el.classes:insert("chart")
    return el
end

-- Length ------------------------------------------------------------------------------------------
-- The length of a chapter with all folds closed: lines of prose of a page's width, lines of code, pictures, lines of
-- tables. What stands above code (its file, or the command) is no prose.
local WORDS_A_LINE = 13
local function length_of(blocks)
    local n = { prose = 0, code = 0, pictures = 0, tables = 0 }
    local function closed(el)
        for _, class in ipairs { "further", "hint", "solution", "answer", "from" } do
            if el.classes:includes(class) then return true end
        end
    end
    local open = pandoc.walk_block(pandoc.Div(blocks),
        { Div = function(el) if closed(el) then return {} end end })
    local function prose(el)
        local _, words = pandoc.utils.stringify(el.content):gsub("%S+", "")
        n.prose = n.prose + math.ceil(words / WORDS_A_LINE)
    end
    open = pandoc.walk_block(open, { Table = function(el)
        for _, body in ipairs(el.bodies) do n.tables = n.tables + #body.body + 2 end
        return {}
    end })
    pandoc.walk_block(open, {
        Para = prose, Plain = prose, Header = prose,
        CodeBlock = function(el)
            local _, lines = el.text:gsub("\n", "")
            n.code = n.code + lines + 1
        end,
        Image = function() n.pictures = n.pictures + 1 end,
    })
    return n
end

-- A minute is 15 lines of prose or 20 of code or tables, and a picture takes half of one.
local function minutes_of(n)
    local minutes = n.prose / 15 + (n.code + n.tables) / 20 + n.pictures / 2
    return math.max(5, 5 * math.floor(minutes / 5 + 0.5))
end

-- Questions -----------------------------------------------------------------------------------------
-- What a step's program asks with --questions, read from its table: texts of C, one string or several.
local function questions_of(path)
    local table_of = table.concat(lines_of(path), "\n"):match("kf_question questions%[%] = (%b{})") or ""
    local items, at = {}, 1
    while true do
        local _, last = table_of:find("%.text%s*=%s*", at)
        if not last then return items end
        local text = ""
        at = last + 1
        while true do
            local _, ends, part = table_of:find('^%s*"(.-[^\\])"', at)
            if not ends then break end
            text, at = text .. part, ends + 1
        end
        items[#items + 1] = { pandoc.Plain(plain_text((text:gsub('\\"', '"')))) }
    end
end

-- In front of the section's own prediction.
local function ask(blocks, step, nn)
    local items = questions_of(step.file)
    if #items == 0 then return end
    local command = pandoc.Plain { pandoc.Strong { pandoc.Str("Predict first") }, pandoc.Space(),
        pandoc.Code("make step-" .. nn .. " predict") }
    local at = blocks[1] and blocks[1].t == "Header" and 2 or 1
    for i, block in ipairs(blocks) do
        local para = block.t == "Div" and block.classes:includes("run-in") and block.content[1] or block
        local first = para.t == "Para" and para.content[1]
        if first and first.t == "Strong" and pandoc.utils.stringify(first):match("^Prediction") then
            at = i
            break
        end
    end
    table.insert(blocks, at, pandoc.Div({ command, pandoc.OrderedList(items) }, { class = "predict" }))
end

-- Structure ---------------------------------------------------------------------------------------
local sizes = {}
local function div(el)
    if el.classes:includes("further") then
        if not el.attributes.title then
            fail("what is further needs a title: ::: {.further title=\"...\"}", ".further")
        end
        return folded("further", nil, "Further: " .. (el.attributes.title or ""), el.content)
    end
    if el.classes:includes("answer") then
        return folded("answer", nil, "Answer", el.content)
    end
    if not el.classes:includes("step") then
        if el.classes:includes("exercise") then
            el.attributes.role = "note"
            local label = pandoc.Plain { pandoc.Str("Exercise") }
            table.insert(el.content, 1, pandoc.Div({ label }, { class = "label" }))
        end
        return el
    end
    local nn = el.attributes.step
    local step = step_of(nn, "step box", ".step")
    if not step then return end
    -- An answer names its step.
    el = pandoc.walk_block(el, { Div = function(inner)
        if inner.classes:includes("answer") then
            inner.attributes.step = nn
            return inner
        end
    end })
    ask(el.content, step, nn)
    local name = step.dir:sub(4)
    local box = pandoc.Div({
        pandoc.Plain {
            pandoc.Span({ pandoc.Str("Step " .. nn) }, { class = "number" }), pandoc.Space(),
            pandoc.Strong { pandoc.Str(name) },
        },
        pandoc.Para { pandoc.Str(step.title) },
        pandoc.Para { pandoc.Code("make step-" .. nn .. " run"), pandoc.Space(),
            pandoc.Link(step.file, "source:" .. nn) },
    }, { class = "stephead" })
    -- Headings inside a div would be missing from the table of contents, so only the div's box is kept. A step is a
    -- section of its own, whatever precedes it.
    local blocks = el.content
    if blocks[1] and blocks[1].t == "Header" then
        local shift = 2 - blocks[1].level
        blocks = pandoc.walk_block(el, {
            Header = function(h)
                h.level = h.level + shift
                return h
            end,
        }).content
        blocks[1].identifier = "step-" .. nn
        table.insert(blocks, 2, box)
    else
        box.identifier = "step-" .. nn
        table.insert(blocks, 1, box)
    end
    return blocks
end

-- Each identifier has its chapter's number, and so is unique in the whole book, since the EPUB is one document.
local titled = false
local function header(el)
    if el.level == 1 and titled then
        local text = "# " .. pandoc.utils.stringify(el)
        fail("a chapter has one title: make '" .. text .. "' a '##'", text)
    end
    if el.level == 1 then
        titled = true
        el.identifier = prefix
        local number = number_of(slug)
        if number then
            el.content:insert(1, pandoc.Span(pandoc.Str((number:gsub("^0+(%d)", "%1"))), { class = "number" }))
            el.content:insert(2, pandoc.Space())
        end
    else
        el.identifier = prefix .. "-" .. el.identifier
    end
    return el
end

local function link(el)
    local nn = el.target:match("^step:(%d%d)$")
    if nn then
        if not owner[nn] then
            return fail("link " .. el.target .. ": no chapter shows step " .. nn, el.target)
        end
        el.target = "page:" .. owner[nn] .. "#step-" .. nn
    elseif el.target:match("^source:%d%d$") then
        if not steps[el.target:sub(8)] then
            fail("link " .. el.target .. ": there is no such step", el.target)
        end
    elseif el.target:match("^#") then
        local id = el.target:sub(2)
        el.target = id:match("^step%-%d%d$") and el.target or "#" .. prefix .. "-" .. id
    elseif not el.target:match("^%a[%w+.-]*:") then
        local page, id = el.target:match("^([^/#]+)%.md#?(.*)$")
        if not page or not chapters[page] then
            return fail("link " .. el.target
                .. ": no such chapter (write NN-name.md, step:NN or source:NN)", el.target)
        end
        local number = "ch" .. (number_of(page) or page)
        el.target = "page:" .. page .. "#" .. number .. (id ~= "" and "-" .. id or "")
    end
    return el
end

local function code(el)
    if el.classes:includes("output") then return output(el) end
    if el.classes:includes("recorded") then return recorded_output(el) end
    if el.classes:includes("rows") then return row_table(el) end
    if el.attributes.snippet or el.attributes.step then return listing(el) end
    if el.text:match("%S") then return code_block(el.text, el.classes[1] or "text") end
    fail("an empty code block: name a step= and a snippet=, or use .output, .recorded or .rows", "```")
end

-- A paragraph that is only a word in bold is the heading of the text below.
local function run_in(el)
    if #el.content == 1 and el.content[1].t == "Strong" then return pandoc.Div({ el }, { class = "run-in" }) end
end

local function wide(el) return pandoc.Div({ el }, { class = "wide", tabindex = "0" }) end

local function display(el)
    if el.mathtype == "DisplayMath" then
        return pandoc.Span({ el }, { class = "display", tabindex = "0" })
    end
end

local function write_lines(path, lines)
    local file = io.open(path, "w")
    for _, line in ipairs(lines) do file:write(line, "\n") end
    file:close()
end

function Pandoc(doc)
    -- If the file begins with a title, "#" starts a section; otherwise the first "#" is the title.
    local body = pandoc.Div(doc.blocks)
    if doc.meta.title then
        body = pandoc.walk_block(body, {
            Header = function(el)
                el.level = el.level + 1
                return el
            end,
        })
        local title = pandoc.utils.blocks_to_inlines({ pandoc.Plain(doc.meta.title) })
        table.insert(body.content, 1, pandoc.Header(1, title))
        doc.meta.title = nil
    end
    local typed = doc  -- the lint looks at what was written, before anything is looked up
    body = pandoc.walk_block(body, {
        CodeBlock = code, Image = image, Header = header, Link = link, Math = display,
        Span = function(el)
            if el.classes:includes("fig") then return figure(el) end
            if el.classes:includes("given") then return unbroken(el) end
            if el.classes:includes("verdict") then return verdict(el) end
        end,
    })
    body = pandoc.walk_block(body, { Div = div, Para = run_in, Table = wide })
    if not titled then
        fail("the chapter has no title: start it with '# Title' or a title: between lines of ---")
    end
    for nn in pairs(shown) do
        local name = "step-" .. nn
        tables[name] = tables[name] or rows.read(env.data .. "/" .. env.device .. "/" .. name .. ".tsv")
    end
    lint.check(typed, tables, function(message, needle) fail(message, needle, true) end)
    for _, alt in ipairs(alts) do
        lint.check(alt.text, tables, function(message) fail("chart " .. alt.chart
            .. ": its '# alt:' says " .. message, "chart:" .. alt.chart) end)
    end
    body = pandoc.walk_block(body, { Str = given_count, Math = given_counts })
    body = pandoc.walk_block(body, { Inlines = with_its_stop })
    finish_errors()
    local minutes = minutes_of(length_of(body.content))
    sizes[#sizes + 1] = string.format("chapter\t%s\t%d", slug, minutes)
    write_lines(env.used, used)
    write_lines(env.size, sizes)
    local known = chapters[slug]
    if known then
        local part = known.part ~= "" and "Part " .. known.part .. " · " or ""
        local line = part .. "about " .. minutes .. "\194\160minutes without the exercises"
        table.insert(body.content, 2,
            pandoc.Div({ pandoc.Para { pandoc.Str(line) } }, { class = "part" }))
    end
    doc.blocks = body.content
    doc.meta.slug = slug
    return doc
end
