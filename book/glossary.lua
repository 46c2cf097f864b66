-- Links the first use of each term on a page to its entry in the glossary, and gives the entries their names. An
-- entry of chapters/glossary.md begins with a line "term | other form | ..."; the first form is the title, and
-- "-" among them means that uses are not linked. BOOK_GLOSSARY is that file.
-- A use in a fold does not count for the text around it, which is read without it. A term in a heading must be
-- used in the section below, or before: otherwise it would stand there without a link. That ends the build.
local file = os.getenv("BOOK_GLOSSARY")

local by_first = {}  -- first word, lower case -> list of { words, id, exact }
local function word_of(text) return text:lower() end

local function id_of(term) return "term-" .. term:gsub("δ", "delta"):lower():gsub("[^%w]+", "-"):gsub("^-", ""):gsub("-$", "") end

-- A form in capitals (TMA, L1) is matched as it is: "mma" is another word than "MMA".
local function add(form, id)
    local words = {}
    for word in form:gmatch("%S+") do words[#words + 1] = word_of(word) end
    local entry = { words = words, id = id, exact = form == form:upper() and form or nil }
    local list = by_first[words[1]] or {}
    by_first[words[1]] = list
    list[#list + 1] = entry
    table.sort(list, function(a, b) return #a.words > #b.words end)
end

local function forms_of(line)
    local forms, linked = {}, true
    for form in line:gmatch("[^|]+") do
        form = form:gsub("^%s+", ""):gsub("%s+$", "")
        if form == "-" then linked = false else forms[#forms + 1] = form end
    end
    return forms, linked
end

if file then
    local before
    for line in io.lines(file) do
        if line:match("^:   ") and before then
            local forms, linked = forms_of(before)
            for _, form in ipairs(linked and forms or {}) do add(form, id_of(forms[1])) end
        end
        before = line:match("%S") and line
    end
end

-- "wavefronts." is "wavefront" between nothing and "s.": what stands around a word is no part of it.
local function cut(text)
    local front, word, back = text:match("^([%(\"“‘%[]*)(.-)([%.,;:!%?%)\"”’%]…]*)$")
    return front or "", word or text, back or ""
end

local function same(word, wanted, last)
    if word == wanted then return true end
    if not last then return false end
    return word == wanted .. "s" or word == wanted .. "es" or word == wanted .. "'s" or word == wanted .. "’s"
        or (wanted:match("y$") and word == wanted:sub(1, -2) .. "ies")
end

local function is_space(el) return el.t == "Space" or el.t == "SoftBreak" end

-- The longest term that begins at item i of the list, and the item that it ends at.
local function match(list, i)
    local front, first, back = cut(list[i].text)
    local tried = {}
    for _, key in ipairs { first, (first:gsub("['’]s$", "")), (first:gsub("s$", "")), (first:gsub("es$", "")),
        (first:gsub("ies$", "y")) } do
        key = word_of(key)
        for _, entry in ipairs(not tried[key] and by_first[key] or {}) do
            local at, ok = i, true
            for k, wanted in ipairs(entry.words) do
                if k > 1 then
                    if not (list[at + 1] and is_space(list[at + 1]) and list[at + 2] and list[at + 2].t == "Str") then
                        ok = false
                        break
                    end
                    at = at + 2
                end
                local f, word, b = cut(list[at].text)
                local last = k == #entry.words
                if (k > 1 and f ~= "") or (not last and b ~= "") or not same(word_of(word), wanted, last) then
                    ok = false
                    break
                end
                if entry.exact and #entry.words == 1 and word:sub(1, #entry.exact) ~= entry.exact then ok = false end
                back = b
            end
            if ok then return entry, at, front, back end
        end
        tried[key] = true
    end
end

local seen, folded, errors, missing, section

local function use(id)
    local there = folded > 0 and seen.folded or seen.open
    if seen.open[id] or there[id] then return false end
    there[id] = true
    return true
end

local function linked(list)
    local out = pandoc.List()
    local i = 1
    while i <= #list do
        local el = list[i]
        local entry, last, front, back
        if el.t == "Str" then entry, last, front, back = match(list, i) end
        if entry and use(entry.id) then
            local inner = pandoc.List()
            for k = i, last do
                local part = list[k]
                if part.t == "Str" then
                    local f, word, b = cut(part.text)
                    part = pandoc.Str((k > i and f or "") .. word .. (k < last and b or ""))
                end
                inner:insert(part)
            end
            if front ~= "" then out:insert(pandoc.Str(front)) end
            out:insert(pandoc.Link(inner, "page:glossary#" .. entry.id, "", { class = "term" }))
            if back ~= "" then out:insert(pandoc.Str(back)) end
            i = last + 1
        else
            if el.t == "Emph" or el.t == "Strong" or el.t == "Span" or el.t == "Quoted" then
                local plain = not (el.t == "Span" and (el.classes:includes("fig") or el.classes:includes("verdict")))
                if plain then el.content = linked(el.content) end
            elseif el.t == "Image" then
                el.caption = linked(el.caption)
            end
            out:insert(el)
            i = i + 1
        end
    end
    return out
end

-- The terms in a heading, which has links of its own in the contents.
local function named_in(header)
    local ids = {}
    for i, el in ipairs(header.content) do
        if el.t == "Str" then
            local entry = match(header.content, i)
            if entry then ids[#ids + 1] = entry.id end
        end
    end
    return ids
end

local blocks_of

local function settle(level)
    for i = #section, 1, -1 do
        if section[i].level >= level then
            for _, id in ipairs(section[i].ids) do
                if not seen.open[id] and not seen.folded[id] then
                    missing[#missing + 1] = 'heading "' .. section[i].text .. '": its section does not use "'
                        .. id:gsub("^term%-", "") .. '", so nothing leads to the glossary; explain it below'
                end
            end
            table.remove(section, i)
        end
    end
end

local function rows_of(rows)
    for _, row in ipairs(rows) do
        for _, cell in ipairs(row.cells) do cell.contents = blocks_of(cell.contents) end
    end
end

local function block_of(el)
    if el.t == "Para" or el.t == "Plain" then
        el.content = linked(el.content)
    elseif el.t == "Header" then
        settle(el.level)
        section[#section + 1] = { level = el.level, ids = named_in(el), text = pandoc.utils.stringify(el) }
    elseif el.t == "Div" then
        local class = el.classes[1]
        local fold = class == "further" or class == "hint" or class == "solution" or class == "answer"
        if class == "stephead" then return el end
        folded = folded + (fold and 1 or 0)
        el.content = blocks_of(el.content)
        folded = folded - (fold and 1 or 0)
    elseif el.t == "BlockQuote" then
        el.content = blocks_of(el.content)
    elseif el.t == "BulletList" or el.t == "OrderedList" then
        for i, item in ipairs(el.content) do el.content[i] = blocks_of(item) end
    elseif el.t == "DefinitionList" then
        for _, item in ipairs(el.content) do
            item[1] = linked(item[1])
            for i, text in ipairs(item[2]) do item[2][i] = blocks_of(text) end
        end
    elseif el.t == "Table" then
        el.caption.long = blocks_of(el.caption.long or {})
        rows_of(el.head.rows)
        for _, part in ipairs(el.bodies) do rows_of(part.body) end
    end
    return el
end

function blocks_of(list)
    local out = pandoc.List()
    for _, el in ipairs(list) do out:insert(block_of(el)) end
    return out
end

local function start()
    seen, folded, section = { open = {}, folded = {} }, 0, {}
end

-- The glossary itself: every entry gets its name, its other forms, and links to the entries in italics.
local function entries(el)
    for _, item in ipairs(el.content) do
        local forms = forms_of(pandoc.utils.stringify(item[1]))
        local id = id_of(forms[1])
        local head = pandoc.List { pandoc.Span({ pandoc.Str(forms[1]) }, { id = id, class = "entry" }) }
        if #forms > 1 then
            head:insert(pandoc.Span({ pandoc.Str(" (" .. table.concat(forms, ", ", 2) .. ")") }, { class = "forms" }))
        end
        item[1] = head
        for i, text in ipairs(item[2]) do
            item[2][i] = pandoc.walk_block(pandoc.Div(text), {
                Emph = function(word)
                    local entry = word.content[1] and word.content[1].t == "Str" and match(word.content, 1)
                    if not entry then
                        if #pandoc.utils.stringify(word) > 1 then
                            errors[#errors + 1] = 'glossary, "' .. forms[1] .. '": *'
                                .. pandoc.utils.stringify(word) .. "* has no entry"
                        end
                        return nil
                    end
                    return pandoc.Link(word.content, "page:glossary#" .. entry.id, "", { class = "term" })
                end,
            }).content
        end
    end
    return el
end

function Pandoc(doc)
    if not file then return nil end
    errors, missing = {}, {}
    start()
    local slug = doc.meta.slug and pandoc.utils.stringify(doc.meta.slug)
    local glossary
    local out = pandoc.List()
    for _, el in ipairs(doc.blocks) do
        if el.t == "Header" and el.level == 1 then
            settle(1)
            start()
            glossary = el.identifier == "chglossary"
        end
        if glossary then
            out:insert(el.t == "DefinitionList" and entries(el) or el)
        else
            out:insert(block_of(el))
        end
    end
    settle(1)
    for _, text in ipairs(errors) do io.stderr:write("book: ", text, "\n") end
    for _, text in ipairs(missing) do io.stderr:write("book: ", slug or "the book", ": ", text, "\n") end
    if #errors + #missing > 0 then os.exit(1) end
    doc.blocks = out
    return doc
end
