-- The contents that stand on each page: every chapter, under its part. BOOK_PAGES is the list that contents.awk
-- writes, BOOK_ROOT leads from the page to the others ("" or "../"), BOOK_INDEX is set if there is an index.
local root = os.getenv("BOOK_ROOT") or ""

function Pandoc(doc)
    local here = doc.meta.slug and pandoc.utils.stringify(doc.meta.slug)
    local contents, part = pandoc.List(), nil
    local function add(slug, title, its_part)
        contents:insert({
            page = root .. slug .. ".html", title = title,
            part = its_part ~= part and its_part ~= "" and "Part " .. its_part or nil,
            here = slug == here or nil,
        })
        part = its_part
    end
    for line in io.lines(os.getenv("BOOK_PAGES")) do
        local kind, slug, _, title, its_part = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t?([^\t]*)$")
        local number = kind == "chapter" and slug:match("^0*(%d+%l?)%f[%W]")
        if kind == "chapter" and slug ~= "index" then
            add(slug, number and number .. " " .. title or title, its_part)
        end
    end
    if (os.getenv("BOOK_INDEX") or "") ~= "" then add("names", "Index of commands, counters and rules", "") end
    doc.meta.contents = contents
    return doc
end
