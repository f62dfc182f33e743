# The vectors of test/vectors, the recordings of test/recordings and the
# requests of test/sdk_requests as lines that test programs can read, found by
# them through E2B_VECTORS.

export E2B_VECTORS ?= $(OUT)/vectors
VECTORS := $(patsubst test/vectors/%.json,$(E2B_VECTORS)/%.txt,$(wildcard test/vectors/*.json))
RECORDINGS := $(patsubst test/recordings/%_calls.txt,$(E2B_VECTORS)/recorded_%.txt,$(wildcard test/recordings/*_calls.txt))

$(E2B_VECTORS)/%.txt: test/vectors/%.json test/vectors/convert.py
	@build/need.sh vectors
	@mkdir -p $(@D)
	$(call say,py,$@)
	$(Q)/usr/bin/python3 test/vectors/convert.py $< $@

$(E2B_VECTORS)/recorded_%.txt: test/recordings/%_calls.txt test/recordings/%-recordings.jsonl \
		test/recordings/convert.py test/recordings/framing.py
	@build/need.sh vectors
	@mkdir -p $(@D)
	$(call say,py,$@)
	$(Q)/usr/bin/python3 -B test/recordings/convert.py $(word 2,$^) $< $@

$(E2B_VECTORS)/sdk_requests.txt: test/sdk_requests/js-sdk-requests.jsonl test/sdk_requests/left_out.txt \
		test/sdk_requests/convert.py
	@build/need.sh vectors
	@mkdir -p $(@D)
	$(call say,py,$@)
	$(Q)/usr/bin/python3 test/sdk_requests/convert.py $(wordlist 1,2,$^) $@

$(UNIT): | $(VECTORS) $(RECORDINGS) $(E2B_VECTORS)/sdk_requests.txt
