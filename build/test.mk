# Test programs and how they are run.

ifneq ($(CMOCKA_DIR)$(CMOCKA_BUILD),)
CMOCKA_SOURCE := $(or $(CMOCKA_DIR),$(DEPS)/cmocka)
CMOCKA := $(OUT)/libcmocka.a
CMOCKA_FLAGS := -isystem $(CMOCKA_SOURCE)/include
else
CMOCKA := $(OUT)/cmocka.found
endif
CMOCKA_LINK = $(if $(filter %.a,$(CMOCKA)),$(CMOCKA),-lcmocka)

# Here the system's cmocka fits; where it was built for another machine (a
# configuration with CMOCKA_BUILD) its one source file is compiled instead.
$(OUT)/cmocka.found:
	@mkdir -p $(@D)
	@build/need.sh unit
	@touch $@

$(OUT)/libcmocka.a: $(if $(CMOCKA_DIR),,$(DEPS)/cmocka/src/cmocka.c) $(OUT)/obj/flags
	$(CC) $(COMMON) -std=gnu99 -w -DHAVE_SIGNAL_H -DHAVE_STRINGS_H -DHAVE_STRSIGNAL -DHAVE_GCC_THREAD_LOCAL_STORAGE \
		-I$(CMOCKA_SOURCE)/include -c $(CMOCKA_SOURCE)/src/cmocka.c -o $(OUT)/obj/cmocka.o
	@rm -f $@
	$(AR) rcs $@ $(OUT)/obj/cmocka.o

$(DEPS)/cmocka/src/cmocka.c:
	@build/cmocka.sh $(DEPS)/cmocka

$(OUT)/obj/test/%.o: INCLUDES += $(CMOCKA_FLAGS)
$(UNIT:$(OUT)/test/%=$(OUT)/obj/test/%.o): $(CMOCKA)

# Programs are linked with all we have; an archive gives only what is asked of it.
TEST_ARCHIVES := $(OUT)/libsupport.a $(OUT)/libe2b-memory.a $(OUT)/libe2b-posix.a $(OUT)/libe2b.a

.SECONDARY:
$(UNIT): $(OUT)/test/%: $(OUT)/obj/test/%.o $(TEST_ARCHIVES) $(CMOCKA)
	@mkdir -p $(@D)
	$(LINK) $< $(TEST_ARCHIVES) $(CMOCKA_LINK) $(LDLIBS) -o $@

$(LIVE) $(BENCH): $(OUT)/test/%: $(OUT)/obj/test/%.o $(TEST_ARCHIVES)
	@mkdir -p $(@D)
	$(LINK) $< $(TEST_ARCHIVES) $(LDLIBS) -o $@
