# libe2b. `make help` lists the targets, docs/development.md explains them.
#
# A configuration (build/configurations.mk) is chosen with CONFIG=name and
# builds into out/name; without one everything lands in out/.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

OUT ?= out
BUILT := $(OUT)$(addprefix /,$(CONFIG))
DEPS := $(OUT)/deps
include build/configurations.mk

# ---- what a user may set ------------------------------------------------

ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)$(if $(CROSS_COMPILE)$(shell command -v gcc),gcc,$(if $(shell command -v clang),clang,gcc))
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
OPT ?= -O2
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
TLS ?= none

ifneq ($(TLS),none)
$(error TLS=$(TLS): the only value is none)
endif

VERSION = $(or $(shell sed -n 's/^.define E2B_VERSION "\(.*\)"/\1/p' lib/e2b.h),0.0.0)

# ---- how things are compiled --------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wvla
COMMON := -std=c99 $(OPT) -g -ffunction-sections -fdata-sections $(ARCH) $(SANITIZE) $(EXTRA)
# Every file sees llhttp under our private names, also where it embeds a parser.
INCLUDES := -Ilib -isystem $(DEPS)/llhttp -isystem $(DEPS)/jsmn -include $(DEPS)/llhttp_names.h
HOSTED := -D_POSIX_C_SOURCE=200809L -Iport/posix -Iport/memory -Iport/cli
COMPILE = $(CC) $(COMMON) $(WARNINGS) $(WERROR) $(INCLUDES) $(CPPFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(COMMON) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections

ifeq ($(V),)
Q := @
say = @echo '  $(1) $(2)'
endif

# ---- sources ------------------------------------------------------------

objects = $(patsubst %.c,$(BUILT)/obj/%.o,$(sort $(wildcard $(1))))
programs = $(patsubst test/%.c,$(BUILT)/test/%,$(sort $(wildcard $(1))))

LIB := $(call objects,$(patsubst %,lib/%/*.c,base wire cloud envd harness))
LLHTTP := $(patsubst %,$(BUILT)/obj/llhttp/%.o,api http llhttp)
POSIX := $(call objects,port/posix/*.c)
MEMORY := $(call objects,port/memory/*.c)
CLI := $(call objects,port/cli/*.c)
SUPPORT := $(call objects,test/support/*.c)
UNIT := $(call programs,test/unit/test_*.c test/recordings/test_*.c test/sdk_requests/test_*.c test/limits/test_*.c)
LIVE := $(call programs,test/live/*.c test/fault/*.c)
BENCH := $(call programs,test/bench/*.c)
FUZZ := $(call programs,test/fuzz/fuzz_*.c)
EXAMPLES := $(patsubst docs/examples/%.c,$(BUILT)/examples/%,$(wildcard docs/examples/*.c))

HEADERS := $(wildcard lib/e2b*.h port/posix/e2b_posix.h port/memory/e2b_memory.h)
ARCHIVES := $(BUILT)/libe2b.a $(BUILT)/libe2b-posix.a

.PHONY: all archives
archives: $(ARCHIVES) $(BUILT)/libe2b-memory.a
all: archives $(BUILT)/e2b ## build the archives and the e2b command

# A file that holds TEXT and changes only when TEXT does: what depends on it is
# rebuilt when a flag or a list of sources is another one than last time.
define remember
@mkdir -p $(@D)
@printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' >$@
endef

.PHONY: FORCE
$(BUILT)/obj/flags: FORCE
	$(call remember,$(COMPILE) | $(LINK))
$(BUILT)/obj/sources: FORCE
	$(call remember,$(LIB) $(POSIX) $(MEMORY) $(CLI) $(SUPPORT))
$(DEPS)/roots: FORCE
	$(call remember,$(LLHTTP_DIR) $(JSMN_DIR))

export CC OUT LLHTTP_DIR JSMN_DIR CMOCKA_DIR
$(DEPS)/llhttp_names.h: $(DEPS)/roots build/third_party.sh
	@build/need.sh build
	@build/third_party.sh $(DEPS)

$(BUILT)/obj/llhttp/%.o: $(DEPS)/llhttp_names.h build/llhttp_freestanding.h $(BUILT)/obj/flags
	@mkdir -p $(@D)
	$(call say,cc,$*.c of llhttp)
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -w -include build/llhttp_freestanding.h \
		-include $(DEPS)/llhttp_names.h -I$(DEPS)/llhttp -c $(DEPS)/llhttp/$*.c -o $@

$(BUILT)/obj/lib/%.o: lib/%.c $(DEPS)/llhttp_names.h $(BUILT)/obj/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(COMPILE) -Wmissing-prototypes -c $< -o $@

$(BUILT)/obj/%.o: %.c $(DEPS)/llhttp_names.h $(BUILT)/obj/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(COMPILE) $(HOSTED) -Itest/support -c $< -o $@

define archive
$(call say,ar,$@)
@rm -f $@
$(Q)$(AR) rcs $@ $(filter %.o,$^)
endef
$(BUILT)/libe2b.a: $(LIB) $(LLHTTP) $(BUILT)/obj/sources
	$(archive)
$(BUILT)/libe2b-posix.a: $(POSIX) $(BUILT)/obj/sources
	$(archive)
$(BUILT)/libe2b-memory.a: $(MEMORY) $(BUILT)/obj/sources
	$(archive)
$(BUILT)/libcli.a: $(CLI) $(BUILT)/obj/sources
	$(archive)
$(BUILT)/libsupport.a: $(SUPPORT) $(BUILT)/obj/sources
	$(archive)

$(BUILT)/e2b: $(CLI) $(ARCHIVES)
	$(call say,ld,$@)
	$(Q)$(LINK) $(CLI) $(BUILT)/libe2b-posix.a $(BUILT)/libe2b.a $(LDLIBS) -o $@

$(EXAMPLES): $(BUILT)/examples/%: $(BUILT)/obj/docs/examples/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(LINK) $< $(BUILT)/libe2b-posix.a $(BUILT)/libe2b.a $(LDLIBS) -o $@

include build/vectors.mk
include build/test.mk

# ---- the rest -----------------------------------------------------------

.PHONY: install uninstall
install: all ## install to DESTDIR and PREFIX: headers, archives, e2b.pc, e2b
	install -d $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(BINDIR)
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(ARCHIVES) $(BUILT)/libe2b-memory.a $(DESTDIR)$(LIBDIR)/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' e2b.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/e2b.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/e2b.pc
	install -m 755 $(BUILT)/e2b $(DESTDIR)$(BINDIR)/

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(notdir $(HEADERS)))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libe2b.a libe2b-posix.a libe2b-memory.a pkgconfig/e2b.pc)
	rm -f $(DESTDIR)$(BINDIR)/e2b

.PHONY: examples clean help
examples: $(EXAMPLES) ## build the programs of docs/examples

clean: ## remove out/
	rm -rf out

help: ## list the targets
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile build/*.mk | expand -t 16

-include $(shell find $(BUILT)/obj -name '*.d' 2>/dev/null)
