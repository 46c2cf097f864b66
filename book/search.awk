# The data of the search: a line of JSON for each section, from what sections.lua wrote.
BEGIN { FS = "\t"; print "window.SECTIONS = [" }
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    gsub(/[[:cntrl:]]/, " ", text)
    return "\"" text "\""
}
$2 != "" { print "[" quoted($1) "," quoted($2) "," quoted($3) "," quoted($4) "," quoted($5) "]," }
END { print "];" }
