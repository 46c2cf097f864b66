-- Resolves the links that weave.lua left, and names the page's neighbours.
-- With BOOK_PAGES set (to the list that contents.awk writes) every chapter is a page; without, the
-- book is one document.
local list = os.getenv("BOOK_PAGES")

local steps, chapters = {}, {}
if list then
    for line in io.lines(list) do
        local f = {}
        for field in (line .. "\t"):gmatch("([^\t]*)\t") do f[#f + 1] = field end
        if f[1] == "step" then steps[f[2]] = f[3] end
        if f[1] == "chapter" then chapters[#chapters + 1] = { slug = f[2], title = f[4] } end
    end
end

function Link(el)
    local page, id = el.target:match("^page:([^#]*)#(.*)$")
    if page then
        el.target = list and page .. ".html#" .. id or "#" .. id
        return el
    end
    local nn, line = el.target:match("^source:(%d%d)#?(.*)$")
    if not nn then return nil end
    if not list then return el.content end
    el.target = "steps/" .. steps[nn] .. ".html" .. (line ~= "" and "#" .. line or "")
    return el
end

function Meta(meta)
    for i, chapter in ipairs(chapters) do
        if meta.slug and chapter.slug == pandoc.utils.stringify(meta.slug) then
            meta.pagetitle = chapter.title
            local before, after = chapters[i - 1], chapters[i + 1]
            if before then meta.prev = { page = before.slug .. ".html", title = before.title } end
            if after then meta.next = { page = after.slug .. ".html", title = after.title } end
        end
    end
    return meta
end
