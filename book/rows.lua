-- Recorded rows: a TSV file with "# key: value" lines on top, then one line of column names, then
-- rows.
local M = {}
local cache = {}

local function split_tabs(line)
    local fields = {}
    for field in (line .. "\t"):gmatch("([^\t]*)\t") do fields[#fields + 1] = field end
    return fields
end

-- The table {header = {key = value}, columns = {names}, index = {name = n}, rows = {{fields}}}; or nil and the
-- reason.
function M.read(path)
    if cache[path] then return cache[path] end
    local file = io.open(path)
    if not file then return nil, path .. " does not exist (make data records it)" end
    local t = { header = {}, rows = {}, index = {} }
    for line in file:lines() do
        line = line:gsub("\r$", "")
        local key, value = line:match("^# ([%w_]+): (.*)$")
        if key then
            t.header[key] = value
        elseif line ~= "" and not line:match("^#") then
            if t.columns then
                local row = split_tabs(line)
                if #row ~= #t.columns then
                    file:close()
                    return nil, path .. ": a row has " .. #row .. " cells and the header " .. #t.columns
                end
                t.rows[#t.rows + 1] = row
            else
                t.columns = split_tabs(line)
                for i, name in ipairs(t.columns) do t.index[name] = i end
            end
        end
    end
    file:close()
    if not t.columns then return nil, path .. " has no line of column names" end
    cache[path] = t
    return t
end

-- The rows that meet every condition {column = value}; or nil and the name of a column that does not exist.
function M.select(t, conditions)
    for name in pairs(conditions) do
        if not t.index[name] then return nil, name end
    end
    local found = {}
    for _, row in ipairs(t.rows) do
        local fits = true
        for name, value in pairs(conditions) do
            if row[t.index[name]] ~= value then fits = false end
        end
        if fits then found[#found + 1] = row end
    end
    return found
end

-- The rows of `found` whose column has one of the values "a|b|c"; if these are unwanted, the rows without them.
function M.filter(t, found, other)
    local kept = {}
    for _, row in ipairs(found) do
        local one_of = ("|" .. other.values .. "|"):find("|" .. row[t.index[other.column]] .. "|", 1, true)
        if (one_of ~= nil) ~= other.unwanted then kept[#kept + 1] = row end
    end
    return kept
end

return M
