# A step's source as a Markdown page: one numbered code block whose lines can be linked to (#L-12).
FNR == 1 { print "# `" FILENAME "`\n\n~~~~~~~~ {#L .cuda .numberLines .lineAnchors tabindex=0}" }
{ print }
END { print "~~~~~~~~" }
