# libe2b. `make help` lists the targets, docs/development.md explains them.
#
# A configuration (build/configurations.mk) is chosen with CONFIG=name and
# builds into out/name; without one everything lands in out/.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

OUT ?= out$(addprefix /,$(CONFIG))
DEPS := out/deps
include build/configurations.mk

# ---- what a user may set ------------------------------------------------

ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)$(if $(CROSS_COMPILE)$(shell command -v gcc),gcc,$(if $(shell command -v clang),clang,gcc))
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
NM ?= $(CROSS_COMPILE)nm
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
HOSTED := -D_POSIX_C_SOURCE=200809L -Iport/posix -Iport/memory
COMPILE = $(CC) $(COMMON) $(WARNINGS) $(WERROR) $(INCLUDES) $(CPPFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(COMMON) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections

ifeq ($(V),)
Q := @
say = @echo '  $(1) $(2)'
endif

# ---- sources ------------------------------------------------------------

objects = $(patsubst %.c,$(OUT)/obj/%.o,$(sort $(wildcard $(1))))
programs = $(patsubst test/%.c,$(OUT)/test/%,$(sort $(wildcard $(1))))

LIB := $(call objects,$(patsubst %,lib/%/*.c,base wire cloud envd harness))
LLHTTP := $(patsubst %,$(OUT)/obj/llhttp/%.o,api http llhttp)
POSIX := $(call objects,port/posix/*.c)
MEMORY := $(call objects,port/memory/*.c)
CLI := $(call objects,port/cli/*.c)
SUPPORT := $(call objects,test/support/*.c)
UNIT := $(call programs,test/unit/test_*.c test/recordings/test_*.c)
LIVE := $(call programs,test/live/*.c test/fault/*.c)
BENCH := $(call programs,test/bench/*.c)

HEADERS := $(wildcard lib/e2b*.h port/posix/e2b_posix.h port/memory/e2b_memory.h)
ARCHIVES := $(OUT)/libe2b.a $(OUT)/libe2b-posix.a

.PHONY: all
all: $(ARCHIVES) $(OUT)/libe2b-memory.a $(if $(CLI),$(OUT)/e2b) ## build the archives and the e2b command

# A file that holds TEXT and changes only when TEXT does: what depends on it is
# rebuilt when a flag or a list of sources is another one than last time.
define remember
@mkdir -p $(@D)
@printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' >$@
endef

.PHONY: FORCE
$(OUT)/obj/flags: FORCE
	$(call remember,$(COMPILE) | $(LINK))
$(OUT)/obj/sources: FORCE
	$(call remember,$(LIB) $(POSIX) $(MEMORY) $(CLI) $(SUPPORT))
$(DEPS)/roots: FORCE
	$(call remember,$(LLHTTP_DIR) $(JSMN_DIR))

export CC NM LLHTTP_DIR JSMN_DIR CMOCKA_DIR
$(DEPS)/llhttp_names.h: $(DEPS)/roots build/third_party.sh
	@build/need.sh build
	@build/third_party.sh $(DEPS)

$(OUT)/obj/llhttp/%.o: $(DEPS)/llhttp_names.h build/llhttp_freestanding.h $(OUT)/obj/flags
	@mkdir -p $(@D)
	$(call say,cc,$*.c of llhttp)
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -w -include build/llhttp_freestanding.h \
		-include $(DEPS)/llhttp_names.h -I$(DEPS)/llhttp -c $(DEPS)/llhttp/$*.c -o $@

$(OUT)/obj/lib/%.o: lib/%.c $(DEPS)/llhttp_names.h $(OUT)/obj/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(COMPILE) -c $< -o $@

$(OUT)/obj/%.o: %.c $(DEPS)/llhttp_names.h $(OUT)/obj/flags
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(COMPILE) $(HOSTED) -Itest/support -c $< -o $@

define archive
$(call say,ar,$@)
@rm -f $@
$(Q)$(AR) rcs $@ $(filter %.o,$^)
endef
$(OUT)/libe2b.a: $(LIB) $(LLHTTP) $(OUT)/obj/sources
	$(archive)
$(OUT)/libe2b-posix.a: $(POSIX) $(OUT)/obj/sources
	$(archive)
$(OUT)/libe2b-memory.a: $(MEMORY) $(OUT)/obj/sources
	$(archive)
$(OUT)/libsupport.a: $(SUPPORT) $(OUT)/obj/sources
	$(archive)

$(OUT)/e2b: $(CLI) $(ARCHIVES)
	$(call say,ld,$@)
	$(Q)$(LINK) $(CLI) $(OUT)/libe2b-posix.a $(OUT)/libe2b.a $(LDLIBS) -o $@

include build/test.mk

# ---- the rest -----------------------------------------------------------

.PHONY: install uninstall
install: all ## install to DESTDIR and PREFIX: headers, archives, e2b.pc, e2b
	install -d $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(BINDIR)
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/
	install -m 644 $(ARCHIVES) $(OUT)/libe2b-memory.a $(DESTDIR)$(LIBDIR)/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' e2b.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/e2b.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/e2b.pc
	install -m 755 $(OUT)/e2b $(DESTDIR)$(BINDIR)/

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(notdir $(HEADERS)))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libe2b.a libe2b-posix.a libe2b-memory.a pkgconfig/e2b.pc)
	rm -f $(DESTDIR)$(BINDIR)/e2b

.PHONY: clean help
clean: ## remove out/
	rm -rf out

help: ## list the targets
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile build/*.mk | expand -t 16

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
