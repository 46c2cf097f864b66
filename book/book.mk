# Makes the book and its charts. Included by the Makefile; works alone too, as its tests do:
# make -f book/book.mk book
#   book       build/book/html/ (a page a chapter, a page a step's source) and the EPUB
#   book-pdf   the PDF, where a browser that prints is found
#   book-lint  no marker in the sources may be unpaired, doubled or left out of the book; what is read
#              of a step without opening anything fits on few screens
#   charts     build/charts/NAME.svg from plots/NAME.gp
# A chapter becomes build/book/tree/NAME.json (weave.lua: everything looked up and checked); page,
# EPUB and PDF are made from that. Every file is written beside its place and moved there whole.

BOOK_CHAPTERS ?= chapters
BOOK_STEPS ?= steps
BOOK_PLOTS ?= plots
BOOK_DATA ?= plots/data
BOOK_DEVICE ?= nvidia-h200
# Empty: the book is its pages only.
BOOK_EPUB ?= yes
# What the steps share and chapters may show.
BOOK_SHARED ?= common
BOOK_OUT ?= build/book
# The names that the index has, as names.awk writes them. Empty: no index.
BOOK_NAMES ?=
# Where a report of a mistake goes: mailto:, with an address or without, or a page that takes ?title= and ?body=.
BOOK_REPORT ?= mailto:
BOOK_CHARTS ?= build/charts
# A step's CPU program is this with the step's number behind it.
BOOK_BIN ?= $(or $(CPU),build/cpu/g++)/step-
BOOK_BROWSER ?= $(firstword $(foreach b,chromium chromium-browser google-chrome,\
    $(shell command -v $b)))

book_here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
book_draw := $(book_here:%book=%plots)
# $(call book_folder,FILE): the name of the folder it is in.
book_folder = $(notdir $(patsubst %/,%,$(dir $1)))

# The first page is woven like a chapter, and has the contents below it.
book_front := $(wildcard $(BOOK_CHAPTERS)/index.md)
book_md := $(filter-out $(book_front),$(sort $(wildcard $(BOOK_CHAPTERS)/*.md)))
book_glossary := $(wildcard $(BOOK_CHAPTERS)/glossary.md)
book_cu := $(sort $(wildcard $(BOOK_STEPS)/[0-9][0-9]-*/*.cu))
book_gp := $(sort $(filter-out $(BOOK_PLOTS)/style.gp,$(wildcard $(BOOK_PLOTS)/*.gp)))
book_tsv := $(sort $(wildcard $(BOOK_DATA)/*/*.tsv))
book_shared := $(sort $(wildcard $(foreach e,cuh cu h c,$(BOOK_SHARED)/*/*.$e) \
    $(BOOK_STEPS)/[0-9][0-9]-*/*.cuh))

book_tree := $(patsubst $(BOOK_CHAPTERS)/%.md,$(BOOK_OUT)/tree/%.json,$(book_front) $(book_md))
book_html := $(BOOK_OUT)/html
book_pages := $(book_md:$(BOOK_CHAPTERS)/%.md=$(book_html)/%.html)
book_sources := $(foreach f,$(book_cu),$(book_html)/steps/$(call book_folder,$f).html)
book_charts := $(book_gp:$(BOOK_PLOTS)/%.gp=$(BOOK_CHARTS)/%.svg)
book_shown := $(book_charts:$(BOOK_CHARTS)/%=$(book_html)/charts/%)
# Figures that move: one picture and one script each, and the script that they share.
book_figures := $(sort $(wildcard $(book_here)/figures/*.lua))
book_stills := $(book_figures:$(book_here)/%.lua=$(book_html)/%.svg)
book_scripts := $(book_figures:$(book_here)/%.lua=$(book_html)/%.js) $(book_html)/figures/figure.js
book_epub := $(BOOK_OUT)/kernel-fusion-workbook.epub
book_pdf := $(BOOK_OUT)/kernel-fusion-workbook.pdf
book_print := $(book_html)/print.html
book_all := $(book_pages) $(book_sources) $(book_shown) $(book_stills) $(book_scripts) $(book_html)/index.html \
    $(addprefix $(book_html)/,style.css book.js search.js) $(if $(BOOK_NAMES),$(book_html)/names.html) \
    $(if $(BOOK_EPUB),$(book_epub))
# Pages of chapters and steps, charts and figures that are gone.
book_stale = $(filter-out $(book_all) $(book_print),\
    $(wildcard $(book_html)/*.html $(book_html)/*/*.html $(book_html)/charts/*.svg $(book_html)/figures/*))
book_list := $(BOOK_OUT)/contents.txt
book_rules := $(BOOK_OUT)/rules.mk

book_pandoc := pandoc --syntax-definition=$(book_here)/cuda.xml
book_link := $(if $(book_glossary),-L $(book_here)/glossary.lua) -L $(book_here)/links.lua
book_page := -t html5 --mathml --template $(book_here)/page.html
book_say = $(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,@echo "  $1")
export BOOK_GLOSSARY = $(book_glossary)
export BOOK_REPORT
export BOOK_INDEX = $(BOOK_NAMES)
book_put = && mv -f $@.tmp $@ || { rm -f $@.tmp; exit 1; }

.PHONY: book book-lint book-pdf charts book_force
.SECONDARY: $(book_tree)

book: $(book_all)
	@rm -f $(book_stale)
	$(call book_say,the book: $(book_html)/index.html$(if $(BOOK_EPUB), and $(book_epub)))

charts: $(book_charts)

# What each chapter and chart needs is read when one of these is asked for, not on every make.
ifneq ($(filter book book-lint book-pdf charts $(BOOK_OUT)/% $(BOOK_CHARTS)/%,$(MAKECMDGOALS)),)
ifeq ($(shell command -v pandoc),)
$(error The book needs pandoc: make setup installs it)
endif
ifeq ($(shell command -v gnuplot),)
$(error The charts need gnuplot: make setup installs it)
endif
-include $(book_rules)
endif

$(book_list): book_force
	@mkdir -p $(@D)
	@{ awk -f $(book_here)/contents.awk $(book_cu) $(book_md) $(book_gp) /dev/null; \
	    for f in $(book_tsv); do printf 'rows\t%s\n' "$$f"; done; } >$@.tmp
	@if cmp -s $@.tmp $@; then rm $@.tmp; else mv -f $@.tmp $@; fi

# Rewritten only when it changes: make starts over whenever it is newer, for ever if a chapter's time
# lies in the future.
$(book_rules): $(book_front) $(book_md) $(book_gp) $(book_list) $(addprefix $(book_here)/,deps.awk book.mk)
	@awk -v tree=$(BOOK_OUT)/tree -v outputs=$(BOOK_OUT)/output -v charts=$(BOOK_CHARTS) \
	    -v plots=$(BOOK_PLOTS) -v data=$(BOOK_DATA)/$(BOOK_DEVICE) -v alldata=$(BOOK_DATA) \
	    -v bin='$(BOOK_BIN)' -v sources='$(book_cu)' \
	    -f $(book_here)/deps.awk $(book_front) $(book_md) $(book_gp) /dev/null >$@.tmp
	@if cmp -s $@.tmp $@; then rm $@.tmp; else mv -f $@.tmp $@; fi

$(book_charts): $(BOOK_CHARTS)/%.svg: $(BOOK_PLOTS)/%.gp \
    $(addprefix $(book_draw)/,style.gp select.awk dress.awk draw.sh)
	$(call book_say,chart $*)
	@$(book_draw)/draw.sh $< $(BOOK_DATA)/$(BOOK_DEVICE) $@

$(book_tree): $(BOOK_OUT)/tree/%.json: $(BOOK_CHAPTERS)/%.md $(book_list) \
    $(addprefix $(book_here)/,weave.lua rows.lua lint.lua figure.lua) $(book_figures)
	$(call book_say,chapter $*)
	@mkdir -p $(@D)
	@BOOK_PLOTS=$(BOOK_PLOTS) BOOK_DATA=$(BOOK_DATA) BOOK_DEVICE=$(BOOK_DEVICE) \
	    BOOK_OUTPUTS=$(BOOK_OUT)/output BOOK_CONTENTS=$(book_list) BOOK_USED=$(@:.json=.used) \
	    BOOK_SIZE=$(@:.json=.size) \
	    pandoc -L $(book_here)/weave.lua -t json $< -o $@.tmp $(book_put)

$(book_pages): $(book_html)/%.html: $(BOOK_OUT)/tree/%.json $(book_glossary) $(book_list) $(book_figures) \
    $(addprefix $(book_here)/,page.html sections.lua glossary.lua contents.lua links.lua figure.lua cuda.xml)
	@mkdir -p $(@D)
	@BOOK_PAGES=$(book_list) BOOK_SECTIONS=$(BOOK_OUT)/tree/$*.sections $(book_pandoc) -f json $(book_page) --toc --toc-depth=2 \
	    -L $(book_here)/sections.lua -L $(book_here)/contents.lua $(book_link) $< -o $@.tmp $(book_put)

# The sections are written beside each page.
$(book_html)/search.js: $(book_pages) $(book_here)/search.awk
	@awk -f $(book_here)/search.awk $(book_md:$(BOOK_CHAPTERS)/%.md=$(BOOK_OUT)/tree/%.sections) >$@.tmp $(book_put)

$(book_html)/names.html: $(BOOK_NAMES) $(book_pages) $(book_list) \
    $(addprefix $(book_here)/,where.awk page.html contents.lua links.lua)
	@awk -f $(book_here)/where.awk $(BOOK_NAMES) $(book_md:$(BOOK_CHAPTERS)/%.md=$(BOOK_OUT)/tree/%.sections) | \
	    BOOK_PAGES=$(book_list) $(book_pandoc) $(book_page) --toc --toc-depth=2 -M slug=names -M pagetitle=Index \
	    -L $(book_here)/contents.lua -L $(book_here)/links.lua -o $@.tmp $(book_put)

$(book_html)/book.js: $(book_here)/book.js
	@mkdir -p $(@D)
	@cp $< $@.tmp $(book_put)

$(book_html)/index.html: $(book_tree) $(book_list) \
    $(addprefix $(book_here)/,index.awk links.lua metadata.yaml page.html)
	@mkdir -p $(@D)
	@awk -f $(book_here)/index.awk $(if $(book_front),,$(book_here)/metadata.yaml) \
	    $(book_tree:.json=.size) $(book_list) | pandoc -t json -o $(BOOK_OUT)/contents.json
	@BOOK_PAGES=$(book_list) pandoc -f json $(book_page) -L $(book_here)/links.lua -M pagetitle=Contents \
	    $(book_front:$(BOOK_CHAPTERS)/%.md=$(BOOK_OUT)/tree/%.json) $(BOOK_OUT)/contents.json \
	    -o $@.tmp $(book_put)

# A step's file, and what lies beside it.
define book_source_rule
$(book_html)/steps/$(call book_folder,$1).html: $1 $(sort $(wildcard $(dir $1)*.cuh)) \
    $(book_list) $(addprefix $(book_here)/,source.awk page.html contents.lua cuda.xml)
	@mkdir -p $$(@D)
	@awk -f $(book_here)/source.awk $$(filter %.cu %.cuh,$$^) | BOOK_PAGES=$(book_list) BOOK_ROOT=../ \
	    $(book_pandoc) $(book_page) -L $(book_here)/contents.lua -V root=../ -V wide=1 \
	    -M pagetitle=$$(notdir $$<) -o $$@.tmp $$(book_put)
endef
$(foreach f,$(book_cu),$(eval $(call book_source_rule,$f)))

$(book_html)/style.css: $(addprefix $(book_here)/,two-colours.awk code.css style.css figure.css)
	@mkdir -p $(@D)
	@awk -f $^ >$@.tmp $(book_put)

$(book_html)/charts/%.svg: $(BOOK_CHARTS)/%.svg
	@mkdir -p $(@D)
	@cp $< $@.tmp $(book_put)

# $(call book_drawn,NAME,still|states)
book_drawn = pandoc -f markdown -t html -L $(book_here)/draw.lua -M figure=$1 -M as=$2 /dev/null

$(book_stills): $(book_html)/figures/%.svg: $(book_here)/figures/%.lua \
    $(addprefix $(book_here)/,draw.lua figure.lua code.css figure.css)
	@mkdir -p $(@D)
	@$(call book_drawn,$*,still) >$@.tmp $(book_put)

$(book_html)/figures/figure.js: $(book_here)/figure.js
	@mkdir -p $(@D)
	@cp $< $@.tmp $(book_put)

$(filter-out %/figure.js,$(book_scripts)): $(book_html)/figures/%.js: $(book_here)/figures/%.lua \
    $(addprefix $(book_here)/,draw.lua figure.lua)
	@mkdir -p $(@D)
	@$(call book_drawn,$*,states) >$@.tmp $(book_put)

$(BOOK_OUT)/epub.css: $(addprefix $(book_here)/,two-colours.awk code.css epub.css)
	@mkdir -p $(@D)
	@awk -f $^ >$@.tmp $(book_put)

$(book_epub): $(book_tree) $(book_shown) $(book_stills) $(BOOK_OUT)/epub.css \
    $(addprefix $(book_here)/,metadata.yaml links.lua cuda.xml)
	@test -n "$(book_md)" || { echo "book: no chapters in $(BOOK_CHAPTERS)/" >&2; exit 1; }
	$(call book_say,EPUB)
	@$(book_pandoc) -f json -t epub3 --mathml --toc --toc-depth=2 --epub-chapter-level=1 \
	    --css $(BOOK_OUT)/epub.css -V highlighting-css= \
	    --metadata-file $(book_here)/metadata.yaml \
	    --resource-path=$(book_html) --fail-if-warnings \
	    $(book_link) $(book_tree) -o $@.tmp $(book_put)

book-lint: $(book_tree)
	@awk -f $(book_here)/lint.awk $(book_tree:.json=.used) $(book_cu) $(book_shared)

book-pdf: $(book_pdf)

# $(call book_to_print,PAGES): print.html with the page numbers in PAGES, and PDF.tmp from it. Chromium
# does not run as root inside its own sandbox.
define book_to_print
BOOK_PRINT=$1 $(book_pandoc) -f json $(book_page) -M pagetitle=Print -V print=1 \
	    $(book_link) $(book_tree) -o $(book_print).tmp && mv -f $(book_print).tmp $(book_print) && \
	    profile=$$(mktemp -d) && { "$(BOOK_BROWSER)" --headless --no-sandbox --disable-gpu \
	    --user-data-dir="$$profile" --no-pdf-header-footer --print-to-pdf="$(abspath $(book_pdf)).tmp" \
	    "file://$(abspath $(book_print))" >$(book_pdf).log 2>&1; status=$$?; rm -rf "$$profile"; \
	    test $$status -eq 0 && test -s $(book_pdf).tmp || { tail -n 1 $(book_pdf).log >&2; \
	    rm -f $(book_pdf).tmp $(book_pdf).log; exit 1; }; }
endef

# Printed twice: what is on which page is known only then.
$(book_pdf): $(book_tree) $(book_shown) $(book_stills) $(book_html)/style.css \
    $(addprefix $(book_here)/,page.html links.lua pages.pl cuda.xml)
	@test -n "$(BOOK_BROWSER)" || \
	    { echo "book-pdf: no browser that prints: install chromium" >&2; exit 77; }
	@$(call book_to_print,/dev/null)
	@perl $(book_here)/pages.pl $@.tmp >$(BOOK_OUT)/pages.txt
	@$(call book_to_print,$(BOOK_OUT)/pages.txt)
	@rm -f $@.log; mv -f $@.tmp $@
	$(call book_say,$@)
