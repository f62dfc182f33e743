# The vectors of test/vectors as lines that test programs can read, found by
# them through E2B_VECTORS.

export E2B_VECTORS ?= $(OUT)/vectors
VECTORS := $(patsubst test/vectors/%.json,$(E2B_VECTORS)/%.txt,$(wildcard test/vectors/*.json))

$(E2B_VECTORS)/%.txt: test/vectors/%.json test/vectors/convert.py
	@build/need.sh vectors
	@mkdir -p $(@D)
	$(call say,py,$@)
	$(Q)/usr/bin/python3 test/vectors/convert.py $< $@

$(UNIT): | $(VECTORS)
