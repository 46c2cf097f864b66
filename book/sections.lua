-- Writes a line for each heading of a page, for the search and the index: page, id, page's title, heading, the
-- text below it, and the code and the columns of figures below it. BOOK_SECTIONS is the file to write. The page
-- is left as it is.
local path = os.getenv("BOOK_SECTIONS")

local function flat(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

function Pandoc(doc)
    if not path then return nil end
    local slug = pandoc.utils.stringify(doc.meta.slug or "")
    local lines, now, title = {}, nil, nil
    local function finish()
        if not now then return end
        lines[#lines + 1] = table.concat({ slug, now.id, title, now.heading, flat(table.concat(now.text, " ")),
            flat(table.concat(now.code, " ")) }, "\t")
    end
    local function take(el)
        if not now then return end
        now.text[#now.text + 1] = pandoc.utils.stringify(el)
        pandoc.walk_block(pandoc.Div { el }, {
            Code = function(code) now.code[#now.code + 1] = code.text end,
            Span = function(span)
                local column = (span.attributes.title or ""):match(" col=(%S+)")
                if column then now.code[#now.code + 1] = column end
            end,
        })
    end
    local function walk(blocks)
        for _, el in ipairs(blocks) do
            if el.t == "Header" then
                finish()
                local heading = flat(pandoc.utils.stringify(el))
                title = title or heading
                now = { id = el.identifier, heading = heading, text = {}, code = {} }
            elseif el.t == "CodeBlock" then
                if now then now.code[#now.code + 1] = el.text end
            elseif el.t == "Div" then
                if el.attributes.title and now then now.text[#now.text + 1] = el.attributes.title end
                walk(el.content)
            elseif el.t == "DefinitionList" then
                for _, item in ipairs(el.content) do
                    take(pandoc.Plain(item[1]))
                    for _, text in ipairs(item[2]) do walk(text) end
                end
            elseif el.t ~= "RawBlock" then
                take(el)
            end
        end
    end
    walk(doc.blocks)
    finish()
    local out = assert(io.open(path, "w"))
    out:write(table.concat(lines, "\n"), "\n")
    out:close()
    return nil
end
