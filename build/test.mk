# Test programs, and the stages that `make test` runs.

STAGES := house gcc clang asan m32 s390x local live

.PHONY: test $(addprefix test-,unit $(STAGES))
test: ## run every stage below; SKIP="m32 s390x" leaves some out
	@build/need.sh build unit $(filter-out $(SKIP),$(STAGES)) || true
	+@MAKE='$(MAKE)' build/test.sh '$(SKIP)' $(STAGES)

# ---- programs -----------------------------------------------------------

ifneq ($(CMOCKA_DIR)$(CMOCKA_BUILD),)
# The system's cmocka is built for the system's machine. For another one, its
# only source file is compiled here.
CMOCKA_SOURCE := $(or $(CMOCKA_DIR),$(DEPS)/cmocka)
CMOCKA_FLAGS := -isystem $(CMOCKA_SOURCE)/include
CMOCKA := $(BUILT)/libcmocka.a
CMOCKA_LINK := $(CMOCKA)
else
CMOCKA := $(BUILT)/cmocka.found
CMOCKA_LINK := -lcmocka
endif

$(BUILT)/cmocka.found:
	@mkdir -p $(@D)
	@build/need.sh unit
	@touch $@

$(BUILT)/libcmocka.a: $(if $(CMOCKA_DIR),,$(DEPS)/cmocka/src/cmocka.c) $(BUILT)/obj/flags
	$(call say,cc,cmocka.c)
	$(Q)$(CC) $(COMMON) -std=gnu99 -w -DHAVE_SIGNAL_H -DHAVE_STRINGS_H -DHAVE_STRSIGNAL \
		-I$(CMOCKA_SOURCE)/include -c $(CMOCKA_SOURCE)/src/cmocka.c -o $(BUILT)/obj/cmocka.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(BUILT)/obj/cmocka.o

$(DEPS)/cmocka/src/cmocka.c:
	@build/cmocka.sh $(DEPS)/cmocka

$(BUILT)/obj/test/%.o: INCLUDES += $(CMOCKA_FLAGS)
$(SUPPORT) $(UNIT:$(BUILT)/test/%=$(BUILT)/obj/test/%.o): $(CMOCKA)

# Programs are offered every archive and take from each only what they use.
TEST_ARCHIVES := $(addprefix $(BUILT)/,libsupport.a libcli.a libe2b-memory.a libe2b-posix.a libe2b.a)

.SECONDARY:
$(UNIT): $(BUILT)/test/%: $(BUILT)/obj/test/%.o $(TEST_ARCHIVES) $(CMOCKA)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(LINK) $< $(TEST_ARCHIVES) $(CMOCKA_LINK) $(LDLIBS) -o $@

$(LIVE) $(BENCH): $(BUILT)/test/%: $(BUILT)/obj/test/%.o $(TEST_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(LINK) $< $(TEST_ARCHIVES) $(LDLIBS) -o $@

# Without a fuzzer a target only goes through the inputs that once broke something.
FUZZ_MAIN := $(if $(filter fuzz,$(CONFIG)),-fsanitize=fuzzer,$(BUILT)/obj/test/fuzz/replay.o)
$(FUZZ): $(BUILT)/test/%: $(BUILT)/obj/test/%.o $(BUILT)/obj/test/fuzz/fuzz.o $(BUILT)/obj/test/fuzz/replay.o $(TEST_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(LINK) $< $(BUILT)/obj/test/fuzz/fuzz.o $(FUZZ_MAIN) $(TEST_ARCHIVES) $(LDLIBS) -o $@

# ---- unit tests in each configuration -----------------------------------

test-unit: $(UNIT) $(FUZZ) ## run the unit tests
	@EMULATOR='$(EMULATOR)' build/run.sh $(or $(CONFIG),unit) $(UNIT) $(FUZZ)

# Everything is built, so that a warning in any file fails the stage.
.PHONY: configuration
configuration: all $(UNIT) $(LIVE) $(EXAMPLES) test-unit

test-gcc: ## build with gcc and -Werror, run the unit tests
	@build/need.sh gcc
	+@$(MAKE) CONFIG=gcc configuration
test-clang: ## the same with clang
	@build/need.sh clang
	+@$(MAKE) CONFIG=clang configuration
test-asan: ## the same with clang's address and undefined-behaviour sanitizers
	@build/need.sh asan
	+@E2B_TEST_SAMPLED=1 $(MAKE) CONFIG=asan configuration
test-m32: ## the same on 32 bits
	@build/need.sh m32
	+@$(MAKE) CONFIG=m32 configuration
test-s390x: ## the same on a big-endian machine, under qemu-user
	@build/need.sh s390x
	+@E2B_TEST_SAMPLED=1 $(MAKE) CONFIG=s390x configuration

# ---- the rules of the house ---------------------------------------------

test-house: ## check what a machine can check of the rules in docs/development.md
	@build/need.sh house
	+@$(MAKE) CONFIG=gcc archives
	@build/run.sh house test/house/check.sh

# ---- the local service --------------------------------------------------

SCRIPTS := $(wildcard test/live/test_*.sh test/live/test_*.py test/fault/test_*.sh test/fault/test_*.py)

# Scripts find the build and the command here.
export E2B_OUT = $(BUILT)
export E2B = $(BUILT)/e2b

test-local: ## check e2b-local against the recordings
	@build/need.sh local
	@build/run.sh local $(wildcard test/local/replay.py test/local/test_*.py)

# Each program gets a service of its own, so that none sees another's sandboxes.
test-live: all $(LIVE) $(EXAMPLES) ## run the library and the command against e2b-local
	@build/need.sh local
	@WRAP='build/with_local.sh' build/run.sh live \
		$(filter $(BUILT)/test/live/test_% $(BUILT)/test/fault/test_%,$(LIVE)) $(SCRIPTS) test/live/demo.sh

.PHONY: demo local
demo: all ## build, start e2b-local, create a sandbox and run commands in it
	@build/need.sh local
	@build/with_local.sh bash test/live/demo.sh

PORT ?= 3000
local: ## start e2b-local on PORT and print the variables to export
	@build/need.sh local
	@exec /usr/bin/python3 test/local --port $(PORT) $(LOCAL_OPTIONS)

# ---- fuzzing --------------------------------------------------------------

# Seconds for each target. What is found lies in out/fuzz/found: made smaller
# (`out/fuzz/test/fuzz/TARGET -minimize_crash=1 FILE`) it belongs into test/fuzz/regression/TARGET.
FUZZ_SECONDS ?= 60
TARGETS ?= $(notdir $(FUZZ))

.PHONY: fuzz fuzz-targets
fuzz-targets: $(FUZZ)
fuzz: ## fuzz each target for FUZZ_SECONDS; TARGETS="fuzz_http" chooses
	@build/need.sh asan
	+@$(MAKE) CONFIG=fuzz fuzz-targets
	@/usr/bin/python3 -B test/fuzz/seeds.py test/recordings $(OUT)/fuzz/seeds
	@status=0; for target in $(TARGETS); do \
		mkdir -p $(OUT)/fuzz/corpus/$$target $(OUT)/fuzz/found/$$target; \
		echo "== $$target"; \
		$(OUT)/fuzz/test/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=20 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix=$(OUT)/fuzz/found/$$target/ $(OUT)/fuzz/corpus/$$target $(OUT)/fuzz/seeds/$$target 2>&1 | \
			grep -aE 'executed_units|does not hold|runtime error|ERROR|SUMMARY|written to' || true; \
		[ -z "$$(ls $(OUT)/fuzz/found/$$target)" ] || status=1; \
	done; exit $$status

# ---- measurements and analysis ------------------------------------------

.PHONY: bench size analyse
bench: all $(BENCH) ## measure speeds, as ratios inside one run
	@build/need.sh local
	@for script in $(wildcard test/bench/bench.sh test/bench/bench.py); do \
		case $$script in *.py) /usr/bin/python3 $$script ;; *) bash $$script ;; esac || exit 1; done

size: ## print the size of the code, of a client's memory and of the stack
	+@$(MAKE) CONFIG=small all
	@bash test/house/size.sh $(OUT)/small

analyse: ## gcc's analyzer and cppcheck over lib/ and port/
	@build/need.sh analyse
	+@status=0; \
	$(MAKE) -k CONFIG=analyse all || status=1; \
	cppcheck --quiet --std=c99 --language=c --enable=warning,performance,portability --inline-suppr \
		--error-exitcode=1 -Ilib -Iport/posix -Iport/memory lib port || status=1; \
	exit $$status
