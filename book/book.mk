# Makes the book and its charts. Included by the Makefile; works alone too (make -f book/book.mk book), as its tests do.
#   book       build/book/html/ (a page a chapter, a page a step's source) and the EPUB
#   book-pdf   the PDF, where a browser that prints is found      book-lint  markers that are unpaired or not used
#   charts     build/charts/NAME.svg from plots/NAME.gp
# chapter -> build/book/tree/NAME.json (weave.lua: everything looked up and checked) -> page, EPUB, PDF.

BOOK_CHAPTERS ?= chapters
BOOK_STEPS ?= steps
BOOK_PLOTS ?= plots
BOOK_DATA ?= plots/data
BOOK_DEVICE ?= nvidia-h200
# What the steps share and chapters may show.
BOOK_SHARED ?= common
BOOK_OUT ?= build/book
BOOK_CHARTS ?= build/charts
# A step's CPU program is this with the step's number behind it.
BOOK_BIN ?= $(or $(CPU),build/cpu/g++)/step-
BOOK_BROWSER ?= $(firstword $(foreach b,chromium chromium-browser google-chrome,$(shell command -v $b)))

book_here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
book_draw := $(book_here:%book=%plots)

book_md := $(sort $(wildcard $(BOOK_CHAPTERS)/*.md))
book_cu := $(sort $(wildcard $(BOOK_STEPS)/[0-9][0-9]-*/*.cu))
book_gp := $(sort $(filter-out $(BOOK_PLOTS)/style.gp,$(wildcard $(BOOK_PLOTS)/*.gp)))
book_shared := $(sort $(wildcard $(BOOK_SHARED)/*/*.cuh $(BOOK_SHARED)/*/*.h $(BOOK_SHARED)/*/*.c))
book_tsv := $(sort $(wildcard $(BOOK_DATA)/*/*.tsv))
book_tree := $(book_md:$(BOOK_CHAPTERS)/%.md=$(BOOK_OUT)/tree/%.json)
book_pages := $(book_md:$(BOOK_CHAPTERS)/%.md=$(BOOK_OUT)/html/%.html)
book_sources := $(foreach f,$(book_cu),$(BOOK_OUT)/html/steps/$(notdir $(patsubst %/,%,$(dir $f))).html)
book_charts := $(book_gp:$(BOOK_PLOTS)/%.gp=$(BOOK_CHARTS)/%.svg)
book_epub := $(BOOK_OUT)/kernel-fusion-workbook.epub
book_pdf := $(BOOK_OUT)/kernel-fusion-workbook.pdf
book_list := $(BOOK_OUT)/contents.txt
book_rules := $(BOOK_OUT)/rules.mk

book_pandoc := pandoc --syntax-definition=$(book_here)/cuda.xml
book_say = $(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),,@echo "  $1")
# Every file is written beside its place and moved there whole.
book_put = && mv -f $@.tmp $@ || { rm -f $@.tmp; exit 1; }

.PHONY: book book-lint book-pdf charts book_force
.SECONDARY: $(book_tree)

book: $(book_pages) $(BOOK_OUT)/html/index.html $(BOOK_OUT)/html/style.css $(book_epub) $(book_sources) \
    $(book_charts:$(BOOK_CHARTS)/%=$(BOOK_OUT)/html/charts/%)
	$(call book_say,the book: $(BOOK_OUT)/html/index.html $(book_epub))

charts: $(book_charts)

# The rules on what each chapter and chart needs are read when one of these is asked for, not on every make.
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
	@{ awk -f $(book_here)/contents.awk $(or $(book_cu),/dev/null) $(or $(book_md),/dev/null) $(book_gp); \
	    for f in $(book_tsv); do printf 'rows\t%s\n' "$$f"; done; } >$@.tmp
	@if cmp -s $@.tmp $@; then rm $@.tmp; else mv -f $@.tmp $@; fi

$(book_rules): $(book_md) $(book_gp) $(book_list) $(book_here)/deps.awk $(book_here)/book.mk
	@awk -v tree=$(BOOK_OUT)/tree -v outputs=$(BOOK_OUT)/output -v charts=$(BOOK_CHARTS) -v plots=$(BOOK_PLOTS) \
	    -v data=$(BOOK_DATA)/$(BOOK_DEVICE) -v alldata=$(BOOK_DATA) -v bin='$(BOOK_BIN)' \
	    -v steps='$(foreach f,$(book_cu),$(firstword $(subst -, ,$(notdir $(patsubst %/,%,$(dir $f)))))=$f)' \
	    -f $(book_here)/deps.awk $(or $(book_md) $(book_gp),/dev/null) >$@.tmp $(book_put)

$(book_charts): $(BOOK_CHARTS)/%.svg: $(BOOK_PLOTS)/%.gp $(addprefix $(book_draw)/,style.gp select.awk dress.awk draw.sh)
	$(call book_say,chart $*)
	@$(book_draw)/draw.sh $< $(BOOK_DATA)/$(BOOK_DEVICE) $@

$(book_tree): $(BOOK_OUT)/tree/%.json: $(BOOK_CHAPTERS)/%.md $(book_list) $(addprefix $(book_here)/,weave.lua rows.lua lint.lua)
	$(call book_say,chapter $*)
	@mkdir -p $(@D)
	@BOOK_PLOTS=$(BOOK_PLOTS) BOOK_DATA=$(BOOK_DATA) BOOK_DEVICE=$(BOOK_DEVICE) BOOK_OUTPUTS=$(BOOK_OUT)/output \
	    BOOK_CONTENTS=$(book_list) BOOK_USED=$(@:.json=.used) \
	    pandoc -L $(book_here)/weave.lua -t json $< -o $@.tmp $(book_put)

$(book_pages): $(BOOK_OUT)/html/%.html: $(BOOK_OUT)/tree/%.json $(addprefix $(book_here)/,page.html links.lua cuda.xml)
	@mkdir -p $(@D)
	@BOOK_PAGES=$(book_list) $(book_pandoc) -f json -t html5 --template $(book_here)/page.html --toc --toc-depth=2 \
	    --mathml -L $(book_here)/links.lua $< -o $@.tmp $(book_put)

$(BOOK_OUT)/html/index.html: $(book_list) $(addprefix $(book_here)/,index.awk metadata.yaml page.html)
	@mkdir -p $(@D)
	@awk -v title="$$(sed -n 's/^title: //p' $(book_here)/metadata.yaml)" \
	    -v subtitle="$$(sed -n 's/^subtitle: //p' $(book_here)/metadata.yaml)" -f $(book_here)/index.awk $(book_list) | \
	    pandoc -t html5 --template $(book_here)/page.html -M pagetitle=Contents -o $@.tmp $(book_put)

# The pages of the sources; a step is found by its folder's name.
define book_source_rule
$(BOOK_OUT)/html/steps/$(notdir $(patsubst %/,%,$(dir $1))).html: $1 $(addprefix $(book_here)/,source.awk page.html cuda.xml)
	@mkdir -p $$(@D)
	@awk -f $(book_here)/source.awk $$< | $(book_pandoc) -t html5 --template $(book_here)/page.html -V root=../ \
	    -V wide=1 -M pagetitle=$$(notdir $$<) -o $$@.tmp $$(book_put)
endef
$(foreach f,$(book_cu),$(eval $(call book_source_rule,$f)))

$(BOOK_OUT)/html/style.css: $(book_here)/code.css $(book_here)/style.css
	@mkdir -p $(@D)
	@cat $^ >$@.tmp $(book_put)

$(BOOK_OUT)/html/charts/%.svg: $(BOOK_CHARTS)/%.svg
	@mkdir -p $(@D)
	@cp $< $@.tmp $(book_put)

$(BOOK_OUT)/epub.css: $(book_here)/code.css $(book_here)/epub.css
	@cat $^ >$@.tmp $(book_put)

$(book_epub): $(book_tree) $(book_charts) $(BOOK_OUT)/epub.css $(addprefix $(book_here)/,metadata.yaml links.lua cuda.xml)
	@test -n "$(book_md)" || { echo "book: no chapters in $(BOOK_CHAPTERS)/" >&2; exit 1; }
	$(call book_say,EPUB)
	@$(book_pandoc) -f json -t epub3 --mathml --toc --toc-depth=2 --epub-chapter-level=1 --css $(BOOK_OUT)/epub.css \
	    -V highlighting-css= --metadata-file $(book_here)/metadata.yaml --resource-path=$(patsubst %/,%,$(dir $(BOOK_CHARTS))) \
	    -L $(book_here)/links.lua $(book_tree) -o $@.tmp $(book_put)

book-lint: $(book_tree)
	@awk -f $(book_here)/lint.awk $(book_tree:.json=.used) $(book_cu) $(book_shared)

book-pdf: $(book_pdf)

$(BOOK_OUT)/html/print.html: $(book_tree) $(BOOK_OUT)/html/style.css $(addprefix $(book_here)/,page.html links.lua cuda.xml)
	@$(book_pandoc) -f json -t html5 --template $(book_here)/page.html --mathml -M pagetitle=Print \
	    -L $(book_here)/links.lua $(book_tree) -o $@.tmp $(book_put)

# Chromium will not run as root inside its own sandbox.
$(book_pdf): $(BOOK_OUT)/html/print.html $(book_charts:$(BOOK_CHARTS)/%=$(BOOK_OUT)/html/charts/%)
	@test -n "$(BOOK_BROWSER)" || { echo "book-pdf: no browser that prints; install chromium" >&2; exit 77; }
	@profile=$$(mktemp -d) && "$(BOOK_BROWSER)" --headless --no-sandbox --disable-gpu --user-data-dir=$$profile \
	    --no-pdf-header-footer --print-to-pdf=$(abspath $@).tmp "file://$(abspath $<)" >$@.log 2>&1; \
	    status=$$?; rm -rf "$$profile"; \
	    if test $$status -eq 0 && test -s $@.tmp; then rm $@.log && mv -f $@.tmp $@; \
	    else tail -n 1 $@.log >&2; rm -f $@.tmp $@.log; exit 1; fi
	$(call book_say,$@)
