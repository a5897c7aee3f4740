# SPDX-License-Identifier: MIT
# tftop: hand-written, no configure step. `make help` lists the targets.
#
# Objects go to $(O) (default build/); a sanitizer or another compiler gets a
# folder of its own. Optional parts are probed, one line each.

VERSION := 0.1.0
O ?= build
ifneq ($(words $(O))$(findstring :,$(O)),1)
$(error O names the build folder: one word without a colon, not '$(O)')
endif
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
mandir ?= $(prefix)/share/man
DESTDIR ?=
PKG_CONFIG ?= pkg-config

.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:

SAN ?=
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wundef -Wwrite-strings -Wformat=2 -Wno-format-nonliteral -Wno-unused-parameter
# A folder in which "make check" has built stays as strict: what is built there is checked with it.
WERROR ?= $(if $(wildcard $(O)/strict),-Werror)
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR)
CPPFLAGS += -I. -I$(O) -DTFTOP_VERSION='"$(VERSION)"' -include model/banned.h

# V=1 shows the commands themselves; make -s says nothing but problems.
V ?=
Q := $(if $(V),,@)
SILENT := $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
say = $(if $(V)$(SILENT),,@printf '  %-5s %s\n' '$(1)' '$(patsubst $(O)/%,%,$@)')

# ---- what is there ----

have = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo y)
HAVE_LTTNG_CTL := $(call have,lttng-ctl)
HAVE_LTTNG_UST := $(call have,lttng-ust)
HAVE_BT2 := $(call have,babeltrace2)
HAVE_NCURSES := $(call have,ncursesw)
HAVE_OPENCL_H := $(shell printf '\#include <CL/cl_layer.h>\n' | $(CC) -E - >/dev/null 2>&1 && echo y)
HAVE_OPENCL := $(call have,OpenCL)
HAVE_IBERTY := $(shell printf '\#include <libiberty/demangle.h>\n' | $(CC) -E - >/dev/null 2>&1 && echo y)
HAVE_JANSSON := $(call have,jansson)
HAVE_IMPORT := $(and $(call have,libprotobuf-c),$(call have,yajl),$(call have,zlib),$(shell command -v protoc-c))
# probes/start/interpose.c has these machines' assembler.
HAVE_TRAMPOLINES := $(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine 2>/dev/null))

MISSING := $(if $(HAVE_LTTNG_CTL),,lttng-ctl) $(if $(HAVE_LTTNG_UST),,lttng-ust) \
	$(if $(HAVE_BT2),,babeltrace2) $(if $(HAVE_NCURSES),,ncursesw)

# ---- what is built ----

PROBES := start attach runtime consumer
PROBES += $(if $(HAVE_OPENCL_H),opencl) cuda nvtx itt $(if $(HAVE_TRAMPOLINES),tensorflow pytorch jax blas omp)
PROBES := $(if $(HAVE_LTTNG_UST),$(PROBES))
PROBE_LIBS := $(PROBES:%=$(O)/lib/libtftop-%.so)
PLUGGABLE := $(if $(and $(HAVE_IMPORT),$(HAVE_LTTNG_UST)),$(O)/lib/libtftop_pluggable.so)

src = $(sort $(wildcard $(1)))
obj = $(patsubst %.c,$(O)/%.o,$(1))

MODEL_SRC := $(filter-out model/import/%,$(call src,model/*.c model/*/*.c))
IMPORT_SRC := $(filter-out %/none.c,$(call src,model/import/*.c))
KEYMAP_SRC := $(call src,keymap/*.c)
SESSION_SRC := $(call src,probes/process/*.c probes/session/*.c probes/session/*/*.c)
# The stage is loaded into programs, the rest is tftop's.
STAGE_SRC := $(call src,probes/attach/stage*.c)
ATTACH_SRC := $(filter-out $(STAGE_SRC),$(call src,probes/attach/*.c))
TUI_SRC := $(call src,tui/*.c tui/*/*.c)
UNIT_SRC := $(filter-out $(if $(HAVE_IMPORT),,tests/unit/import_test.c),$(call src,tests/unit/*.c))

IBERTY_FLAGS := $(if $(HAVE_IBERTY),-DHAVE_IBERTY)
IBERTY_LIBS := $(if $(HAVE_IBERTY),-liberty)
# The messages of other programs' formats, for model/ and probes/pluggable.
FORMATS := $(if $(HAVE_IMPORT),$(patsubst model/%.proto,$(O)/%.pb-c,$(call src,model/formats/*.proto)))
FORMATS_OBJ := $(FORMATS:=.o)
IMPORT_OBJ := $(if $(HAVE_IMPORT),$(call obj,$(IMPORT_SRC)),$(O)/model/import/none.o)
CPPFLAGS += $(if $(HAVE_IMPORT),-DHAVE_ZLIB -DHAVE_PROTOBUF_C)
MODEL_LIBS := $(IBERTY_LIBS) $(if $(HAVE_IMPORT),$(shell $(PKG_CONFIG) --libs libprotobuf-c yajl zlib))
TFTOP_PKGS := lttng-ctl babeltrace2 ncursesw
TFTOP_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(TFTOP_PKGS) 2>/dev/null)
TFTOP_LIBS := $(shell $(PKG_CONFIG) --libs $(TFTOP_PKGS) 2>/dev/null) -lpthread -lm -ldl

.PHONY: all programs libs
all: report $(O)/tftop $(O)/tftop-gen $(PROBE_LIBS) $(PLUGGABLE) programs

.PHONY: report
report:
	@$(if $(strip $(MISSING)),printf 'missing: %s; run "make deps"\n' '$(strip $(MISSING))' >&2; exit 1,:)
	@printf '%s\n' \
	  'probe opencl    $(if $(HAVE_OPENCL_H),yes,no: OpenCL headers not found)' \
	  'probe tensorflow $(if $(HAVE_TRAMPOLINES),yes,no: not on this machine)' \
	  'example opencl  $(if $(HAVE_OPENCL),yes,no: OpenCL loader not found)' \
	  'foreign files $(if $(HAVE_IMPORT),yes,no: protobuf-c, yajl or zlib not found)' \
	  'demangler       $(if $(HAVE_IBERTY),yes,no: libiberty not found; names stay mangled)' \
	  > $(O)/parts.new; cmp -s $(O)/parts.new $(O)/parts || $(if $(SILENT),grep ' no:',cat) $(O)/parts.new; mv $(O)/parts.new $(O)/parts

# Everything depends on the flags it was built with.
$(shell mkdir -p $(O))
FLAGS_NOW := $(CC) $(CFLAGS) $(SAN) $(CPPFLAGS) $(LDFLAGS) $(IBERTY_FLAGS)
$(O)/flags: FORCE
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@.new; cmp -s $@.new $@ && rm -f $@.new || mv $@.new $@
.PHONY: FORCE
FORCE:

$(O)/model/%.o: model/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(IBERTY_FLAGS) -MMD -MP -c -o $@ $<

# Generated, so its warnings are nobody's; hidden, for the plug-in.
$(O)/formats/%.pb-c.c: model/formats/%.proto
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=model --c_out=$(O) $<
$(O)/%.pb-c.o: $(O)/%.pb-c.c $(O)/flags
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w $(SAN) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
$(call obj,$(IMPORT_SRC) $(call src,model/export/*.c probes/pluggable/*.c)) $(O)/obj/tests/unit/foreign_test.o: | $(FORMATS:=.c)
.PRECIOUS: $(O)/%.pb-c.c

$(O)/keymap/%.o: keymap/%.c $(O)/flags | $(O)/keymap/tftoprc.inc $(O)/keymap/builtin.inc
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) -MMD -MP -c -o $@ $<

# The default configuration, compiled in as one string literal per line.
$(O)/keymap/tftoprc.inc: keymap/tftoprc
	@mkdir -p $(@D)
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< > $@.new
	$(Q)mv $@.new $@
$(O)/keymap/config.o: $(O)/keymap/tftoprc.inc
# Themes and ready key tables, likewise: {"themes/dark", "..."},
BUILTIN_FILES := $(call src,keymap/themes/* keymap/keys/*)
$(O)/keymap/builtin.inc: $(BUILTIN_FILES)
	@mkdir -p $(@D)
	$(Q)for f in $(BUILTIN_FILES); do printf '{"%s", ""\n' "$${f#keymap/}"; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' "$$f"; echo '},'; done > $@.new
	$(Q)mv $@.new $@
$(O)/keymap/config.o: $(O)/keymap/builtin.inc

$(O)/tui/%.o: tui/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(TFTOP_CFLAGS) -MMD -MP -c -o $@ $<

comma := ,
LIBRARY = $(1) $(shell $(PKG_CONFIG) --modversion $(1) 2>/dev/null)
$(O)/tui/options.o: override CPPFLAGS += -DTFTOP_LIBRARIES='"$(call LIBRARY,lttng-ctl), $(call LIBRARY,lttng-ust), $(call LIBRARY,babeltrace2), $(call LIBRARY,ncursesw)$(if $(HAVE_IMPORT),$(comma) $(call LIBRARY,libprotobuf-c)$(comma) $(call LIBRARY,yajl)$(comma) $(call LIBRARY,zlib))"'

$(O)/probes/session/%.o: probes/session/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(TFTOP_CFLAGS) -MMD -MP -c -o $@ $<

# Probes: position-independent, everything hidden but what is marked.
$(O)/probes/%.o: probes/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

# LTTng-UST 2.13.5 inlines a misaligned access (theirs; fixed in 2.13.6).
$(O)/probes/runtime/emit.o: override SAN := $(SAN) $(if $(findstring undefined,$(SAN)),-fno-sanitize=alignment)

# What is preloaded into programs that know nothing of it carries no sanitizer.
START_SRC := $(call src,probes/start/*.c probes/imports/*.c) probes/blas/names.c
PRELOADED := $(START_SRC) $(STAGE_SRC) $(call src,probes/consumer/*.c)
$(call obj,$(PRELOADED)): override SAN :=

$(O)/libmodel.a: $(call obj,$(MODEL_SRC)) $(IMPORT_OBJ) $(FORMATS_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^
$(O)/libkeymap.a: $(call obj,$(KEYMAP_SRC))
	$(Q)rm -f $@ && ar rcs $@ $^

TFTOP_OBJ := $(call obj,$(TUI_SRC) $(SESSION_SRC) $(ATTACH_SRC))
# A model in a file (model/recording/image.h) needs free() to know its heap.
IMAGE_LD := -Wl,--wrap=free
# babeltrace's plug-in must find our connect(), see probes/session/live/relay.h.
# That of the bundle (below) looks for libraries beside itself, also for what these need.
$(O)/bundle/tftop: BUNDLE_LD := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/own/lib'
$(O)/tftop $(O)/bundle/tftop: $(TFTOP_OBJ) $(O)/libmodel.a $(O)/libkeymap.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) $(BUNDLE_LD) $(IMAGE_LD) -Wl,--dynamic-list=probes/session/tftop.dynlist -o $@ $(TFTOP_OBJ) \
		$(O)/libmodel.a $(O)/libkeymap.a $(TFTOP_LIBS) $(MODEL_LIBS)

PROBE_LD = $(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -shared -Wl,-z,nodelete -Wl,-z,defs -Wl,-soname,$(@F) -o $@
$(O)/lib/libtftop-start.so $(O)/lib/libtftop-attach.so $(O)/lib/libtftop-consumer.so: override SAN :=
$(O)/lib/libtftop-start.so: $(call obj,$(START_SRC))
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(PROBE_LD) $^ -ldl
$(O)/lib/libtftop-attach.so: $(call obj,$(STAGE_SRC))
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(PROBE_LD) $^ -lpthread -ldl
$(O)/lib/libtftop-consumer.so: $(call obj,$(call src,probes/consumer/*.c))
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(PROBE_LD) $^
# An RPATH counts for what LTTng needs itself, too: in a container it is beside this (place.h).
$(O)/lib/libtftop-runtime.so: $(call obj,$(call src,probes/runtime/*.c probes/host/*.c) probes/python/known.c probes/python/debug_offsets.c probes/python/lines.c probes/imports/file.c probes/imports/elf_index.c probes/imports/instruction.c)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(PROBE_LD) $^ -llttng-ust -llttng-ust-common -Wl,--disable-new-dtags,-rpath,'$$ORIGIN' -lpthread -ldl
define probe_lib
$(O)/lib/libtftop-$(1).so: $(call obj,$(call src,probes/$(1)/*.c)) $(O)/lib/libtftop-runtime.so
	@mkdir -p $$(@D)
	$$(call say,LINK)
	$$(Q)$$(PROBE_LD) $$(filter %.o,$$^) -L$(O)/lib -ltftop-runtime -Wl,-rpath,'$$$$ORIGIN' -lpthread -ldl
endef
$(foreach p,$(filter-out start attach runtime consumer,$(PROBES)),$(eval $(call probe_lib,$(p))))
# oneDNN is part of frameworks' libraries, and so of their probes.
ONEDNN_OBJ := $(call obj,$(call src,probes/onednn/*.c probes/imports/*.c))
$(O)/lib/libtftop-tensorflow.so $(O)/lib/libtftop-pytorch.so: $(ONEDNN_OBJ)
# Symbols that only the file of a library names.
$(O)/lib/libtftop-jax.so $(O)/lib/libtftop-omp.so: $(O)/probes/imports/file.o
$(O)/lib/libtftop-jax.so: $(addprefix $(O)/probes/imports/,imports.o instruction.o)
# Graphs of TensorFlow and programs of XLA are protobuf messages.
$(O)/lib/libtftop-tensorflow.so $(O)/lib/libtftop-jax.so: $(O)/probes/protobuf/pb.o
# Trace events of TSL come from TensorFlow and from XLA.
TRACEME_OBJ := $(call obj,$(call src,probes/traceme/*.c))
$(O)/lib/libtftop-tensorflow.so $(O)/lib/libtftop-jax.so $(O)/lib/libtftop-nvtx.so: $(TRACEME_OBJ)
# Frames of Python are read by the probes of its frameworks.
PYTHON_OBJ := $(call obj,$(call src,probes/python/*.c))
$(O)/lib/libtftop-pytorch.so $(O)/lib/libtftop-jax.so: $(call obj,probes/python/again.c probes/python/debug_offsets.c probes/python/known.c \
	probes/python/lines.c probes/python/python.c probes/python/layout.c probes/python/slowest.c)
$(O)/lib/libtftop-tensorflow.so: $(PYTHON_OBJ)

# A plug-in of TensorFlow's, not of ours: it finds the runtime when that is there.
# protobuf-c is inside it and hidden, so that it needs libc alone.
PLUGGABLE_OBJ := $(call obj,$(call src,probes/pluggable/*.c)) $(O)/formats/xplane.pb-c.o
$(O)/lib/libtftop_pluggable.so: $(PLUGGABLE_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(PROBE_LD) $^ -l:libprotobuf-c.a -Wl,--exclude-libs,ALL -lpthread -ldl

# ---- the example ----

EXAMPLE_SRC := $(call src,examples/*.c)
programs: $(if $(HAVE_OPENCL),$(O)/train_opencl)
$(O)/examples/%.o: examples/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) -MMD -MP -c -o $@ $<
$(O)/train_opencl: $(call obj,$(EXAMPLE_SRC))
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -lOpenCL -lpthread -lm -ldl

.PHONY: demo
demo: deps
	$(MAKE) all
	@echo 'q leaves; ? shows the keys'
	@# stopping the program from the dialogue is no failure of make
	@$(O)/tftop -- $(O)/train_opencl --steps 600 --input-threads 2 --prefetch 2; \
		status=$$?; case $$status in 129 | 130 | 143) ;; *) exit $$status ;; esac

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# ---- packages ----

.PHONY: deps
deps:
	@tests/deps.sh
	@# the frameworks of the tests: large, so elsewhere at the first check
	@$(if $(filter true,$(CI)),for v in tensorflow pytorch jax; do tests/venv.sh $$v >/dev/null || exit 1; done)

# ---- tests ----
# Each suite prints one line per failing case and ends with
# "N passed, N failed, N skipped"; tests/run.sh adds them up.

JANSSON := $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null)
TEST_TOOLS := $(O)/tests/unit $(O)/tests/cupti_check $(O)/tests/fuzz $(O)/tests/burst $(O)/tests/faulty $(O)/tests/session_driver $(O)/tests/told $(O)/tests/stuck.so $(O)/tests/clock_steps.so $(O)/tests/wire_faults.so $(O)/tests/inject_driver $(O)/tests/attach_target $(O)/tests/code_target $(O)/tests/libcode_double.so $(O)/tests/code_probe.so $(O)/tests/injected.so $(O)/tests/late_probe.so $(O)/tests/slow_load.so $(if $(HAVE_OPENCL),$(O)/tests/many_queues $(O)/tests/host_functions $(O)/tests/host_calls) $(if $(HAVE_JANSSON),$(O)/tests/compare $(O)/tests/exact $(O)/tests/found $(O)/tests/lossy)

# All of tui/ but main(), so that panes, options and reports are testable.
TUI_LIB_OBJ := $(filter-out $(O)/tui/main.o,$(TFTOP_OBJ))
$(O)/libtui.a: $(TUI_LIB_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

# What is pure of the CUDA probe: for its tests and its doubles, without LTTng.
CUPTI_OBJ := $(call obj,$(addprefix probes/,cuda/decode.c cuda/sizes.c cuda/walk.c cuda/record.c runtime/env.c runtime/peek.c))

# In a folder apart: build/tests/unit and build/tests/fuzz are programs.
test_obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
$(O)/obj/tests/%.o: tests/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(TFTOP_CFLAGS) $(IBERTY_FLAGS) -MMD -MP -c -o $@ $<

# Made-up recordings and what they should say: for tests, benches, demos.
$(O)/tftop-gen: $(call test_obj,$(call src,tests/gen/*.c)) $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $(filter %.o,$^) $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a \
		$(TFTOP_LIBS) $(MODEL_LIBS)

$(O)/tests/unit: $(call test_obj,$(UNIT_SRC)) $(O)/probes/onednn/line.o $(O)/probes/pytorch/interval.o $(addprefix $(O)/probes/,host/frames.o host/frames_read.o host/tasks.o host/interpreter.o host/limit.o host/starter.o host/unwind.o host/unwind_below.o host/unwind_step.o host/usage_faults.o host/usage_text.o python/debug_offsets.o python/known.o python/lines.o imports/file.o imports/elf_index.o imports/instruction.o) $(O)/probes/blas/names.o $(O)/probes/blas/work.o $(CUPTI_OBJ) $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) $(IMAGE_LD) -o $@ $(filter %.o,$^) $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a \
		$(TFTOP_LIBS) $(MODEL_LIBS)
$(O)/tests/compare $(O)/tests/exact $(O)/tests/found $(O)/tests/lossy: $(O)/tests/%: $(O)/obj/tests/live/%.o $(O)/obj/tests/live/differ.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(JANSSON)
$(O)/tests/cupti_check: $(O)/obj/tests/probes/cupti_check.o $(CUPTI_OBJ) $(call obj,$(addprefix probes/cuda/,family.c find.c library.c))
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -ldl
$(O)/tests/burst: $(O)/obj/tests/programs/burst.o $(O)/examples/marks.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -lpthread -ldl
$(O)/tests/many_queues $(O)/tests/host_functions $(O)/tests/host_calls: $(O)/tests/%: $(O)/obj/tests/programs/%.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -lOpenCL -lpthread
$(O)/tests/inject_driver: $(O)/obj/tests/live/inject_driver.o $(call obj,$(patsubst %,probes/attach/%.c,awake call code elf hurry inject place place_porter report target thread) probes/process/executable.c probes/process/process.c) $(O)/libmodel.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -Wl,--wrap=ptrace,--wrap=pwrite -o $@ $^ -lpthread
$(addprefix $(O)/tests/,attach_target code_target faulty): $(O)/tests/%: $(O)/obj/tests/programs/%.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -lpthread -ldl
# Loaded by others or preloaded: carries no sanitizer.
$(addprefix $(O)/tests/,clock_steps.so wire_faults.so injected.so late_probe.so slow_load.so): $(O)/tests/%.so: tests/doubles/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<
# A library whose functions only its file's symbols name, and a probe that replaces them.
$(O)/tests/libcode_double.so: tests/doubles/code_double.c tests/doubles/code_double.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<
$(O)/tests/code_probe.so: tests/doubles/code_probe.c tests/doubles/code_double.h $(call src,probes/jax/patch.c probes/jax/branches.c probes/imports/file.c probes/imports/instruction.c) $(O)/flags
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $(filter %.c,$^)
$(O)/tests/stuck.so: tests/doubles/stuck.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(TFTOP_CFLAGS) -fPIC -shared -o $@ $< -ldl
SESSION_OBJ := $(call obj,$(SESSION_SRC) $(ATTACH_SRC))
$(O)/tests/session_driver $(O)/tests/told: $(O)/tests/%: $(O)/obj/tests/live/%.o $(SESSION_OBJ) $(O)/libmodel.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -Wl,--dynamic-list=probes/session/tftop.dynlist -o $@ $^ \
		$(TFTOP_LIBS) $(MODEL_LIBS)
FUZZ_OBJ := $(call test_obj,$(call src,tests/fuzz/*.c)) $(call obj,probes/tensorflow/graphdef.c probes/tensorflow/graphdef_lines.c probes/protobuf/pb.c probes/jax/hlo.c) $(O)/probes/onednn/line.o $(CUPTI_OBJ)
$(O)/tests/fuzz: $(FUZZ_OBJ) $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) $(IMAGE_LD) -o $@ $(FUZZ_OBJ) $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a \
		$(TFTOP_LIBS) $(MODEL_LIBS)

# The doubles of CUDA: a driver with a simulated device, CUPTI of each release that is played, a
# program that plays scripts on them.
CUDA_DOUBLE_CFLAGS = $(CPPFLAGS) $(CFLAGS) $(SAN) -fPIC -fvisibility=hidden -shared -Wl,-z,defs
CUDA_DOUBLE_H := $(call src,tests/doubles/cuda/*.h probes/cuda/cupti*.h) $(O)/flags
CUPTI_DOUBLES := 11.4/libcupti.so.11.4 11.8/libcupti.so.11.8 12.2/libcupti.so.12 12.6/libcupti.so.12 \
	12.9/libcupti.so.12 13.0/libcupti.so.13 13.1/libcupti.so.13 13.4/libcupti.so.13
NVML_DOUBLES := nvml/libnvidia-ml.so.1 nvml-old/libnvidia-ml.so.1
CUDA_DOUBLES := $(addprefix $(O)/tests/cuda/,libcuda.so.1 libcudnn.so.9 $(CUPTI_DOUBLES) $(NVML_DOUBLES) cudart/libcudart.so.13 cuda_play cuda_stress cuda_beside cuda_beside_linked cuda_xla)
$(O)/tests/cuda/libcuda.so.1: $(addprefix tests/doubles/cuda/,sim.c truth.c driver.c memory.c virtual.c launch.c graphs.c) $(CUDA_DOUBLE_H)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CUDA_DOUBLE_CFLAGS) -Wl,-soname,$(@F) -o $@ $(filter %.c,$^) -lpthread -ldl
$(O)/tests/cuda/libcudnn.so.9: tests/doubles/cuda/cudnn.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CUDA_DOUBLE_CFLAGS) -Wl,-soname,$(@F) -o $@ $<
# 12.9/libcupti.so.12 plays release 12090 (probes/cuda/cupti.h).
cupti_release = $(foreach v,$(notdir $(@D)),$(basename $(v))0$(patsubst .%,%,$(suffix $(v)))0)
$(addprefix $(O)/tests/cuda/,$(CUPTI_DOUBLES)): $(call src,tests/doubles/cuda/cupti_*.c) $(O)/tests/cuda/libcuda.so.1 $(CUDA_DOUBLE_H)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CUDA_DOUBLE_CFLAGS) -DRELEASE=$(cupti_release) -Wl,-soname,$(@F) -o $@ $(filter %.c,$^) \
		$(O)/tests/cuda/libcuda.so.1 -Wl,-rpath,'$$ORIGIN/..' -lpthread -ldl
$(O)/tests/cuda/nvml-old/libnvidia-ml.so.1: CUDA_DOUBLE_CFLAGS += -DOLD
$(addprefix $(O)/tests/cuda/,$(NVML_DOUBLES)): tests/doubles/cuda/nvml.c $(CUDA_DOUBLE_H)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CUDA_DOUBLE_CFLAGS) -Wl,-soname,$(@F) -o $@ $<
$(O)/tests/cuda/cudart/libcudart.so.13: tests/doubles/cuda/cudart.c tests/doubles/cuda/cudart.map $(O)/tests/cuda/libcuda.so.1 $(CUDA_DOUBLE_H)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CUDA_DOUBLE_CFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=tests/doubles/cuda/cudart.map -o $@ $< \
		$(O)/tests/cuda/libcuda.so.1 -Wl,-rpath,'$$ORIGIN/..' -lpthread -ldl
$(O)/tests/cuda/cuda_play: $(O)/obj/tests/programs/cuda_play.o $(O)/obj/tests/programs/cuda_script.o $(O)/tests/cuda/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' -lpthread -ldl

$(O)/tests/cuda/cuda_launch $(O)/tests/cuda/cuda_stress $(O)/tests/cuda/cuda_beside $(O)/tests/cuda/cuda_xla: $(O)/tests/cuda/%: $(O)/obj/tests/programs/%.o $(O)/tests/cuda/libcuda.so.1
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' -lpthread -ldl
$(O)/tests/cuda/cuda_beside_linked: tests/programs/cuda_beside.c $(O)/tests/cuda/libcuda.so.1 $(O)/tests/cuda/13.0/libcupti.so.13
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DLINKED $(SAN) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN:$$ORIGIN/13.0' -lpthread -ldl
$(O)/tests/cuda/libtftop-least.so: tests/gpu/least.c $(CUDA_DOUBLE_H)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CUDA_DOUBLE_CFLAGS) -o $@ $(filter %.c,$^) -lpthread -ldl

.PHONY: tests check check-timing check-versions check-asan check-tsan check-warnings bench golden fuzz
tests: all $(O)/bundle/tftop $(TEST_TOOLS) $(CUDA_DOUBLES)

# Two at once: what is quick and says most first, then from the longest to the shortest, so that both
# lanes end together. ALONE: those that measure what tftop takes, that look for what any tftop leaves,
# or run make.
SUITES := tests/tree.sh tests/runner.sh tests/golden/run.sh tests/completions.sh tests/unit.sh \
	tests/live/attach_session.sh tests/live/host.sh tests/live/usage.sh tests/live/opencl.sh tests/live/torch_generate.sh \
	tests/live/host_hard.sh tests/live/late_frameworks.sh tests/live/jax.sh tests/live/watchdog.sh \
	tests/live/clients.sh tests/live/torch_findings.sh tests/live/tensorflow.sh tests/live/code.sh \
	tests/live/torch_cost.sh tests/live/graph.sh tests/live/gpu.sh tests/live/tf_kernels.sh \
	tests/pty/run.sh tests/live/contain.sh tests/live/tf_flow.sh tests/live/pytorch.sh \
	tests/live/cuda.sh tests/live/join.sh tests/live/batch.sh tests/live/torch_lines.sh \
	tests/live/ends.sh tests/live/tf_input.sh tests/live/jax_findings.sh tests/live/torch_kernels.sh \
	tests/live/tf_pools.sh tests/live/findings.sh tests/live/recording.sh tests/probes/run.sh \
	tests/live/late.sh tests/live/tf_settings.sh tests/live/tf_memory.sh tests/probes/opencl.sh \
	tests/live/blas.sh tests/fuzz/run.sh tests/golden/sizes.sh tests/live/wire.sh tests/questions.sh tests/agree.sh \
	tests/soak/keys.py tests/occupancy.sh tests/probes/tensorflow.sh tests/probes/pytorch.sh \
	tests/probes/cupti.sh tests/probes/blas.sh tests/probes/omp.sh tests/probes/pluggable.sh \
	tests/probes/cuda_doubles.sh tests/probes/cuda.sh tests/live/gen.sh tests/live/save.sh \
	tests/live/trigger.sh tests/live/check.sh tests/live/import.sh tests/live/export.sh \
	tests/live/diff.sh tests/pty/terminal.py
SUITES_ALONE := tests/soak/soak.py tests/live/session.sh tests/live/security.sh tests/live/kill.sh \
	tests/live/attach.sh tests/install.sh
SUITES_ASAN := tests/unit.sh tests/golden/run.sh tests/fuzz/run.sh tests/soak/keys.py \
	tests/live/asan.sh
SUITES_TSAN := tests/tsan.sh

check: check-warnings
	@$(MAKE) -s $(CHECK_JOBS) O=$(O) tests
	@O=$(O) tests/run.sh $(SUITES) --alone $(SUITES_ALONE)

# What only a clock can judge, so on a machine that does nothing else: the cases of case_timed.
SUITES_TIMING := $(shell grep -lE '^[^\#]*\bcase_timed\b' tests/*.sh tests/*/*.sh | grep -vE '/(lib|runner)\.sh$$')
check-timing: tests
	@O=$(O) TIMING=1 tests/run.sh --alone $(SUITES_TIMING)

# TensorFlow's suites on other wheels, which are fetched for that; VERSIONS="2.12 gpu".
check-versions: tests
	@O=$(O) tests/versions.sh

# Every file with -Werror, by gcc and by clang. What $(O) has of gcc is not built a second time: it
# is strict from then on. clang only reads: its warnings come before it makes code.
COMPILER = $(if $(shell $(CC) -dM -E -x c /dev/null | grep __clang__),clang,gcc)
check-warnings:
	@$(if $(filter gcc,$(COMPILER)),mkdir -p $(O) && touch $(O)/strict && \
		$(MAKE) -s $(CHECK_JOBS) O=$(O) WERROR=-Werror objects,\
		$(MAKE) -s $(CHECK_JOBS) O=$(O)/gcc CC=gcc CFLAGS='-O2 -g' WERROR=-Werror objects)
	@$(MAKE) -s $(CHECK_JOBS) O=$(O)/clang CC='tests/syntax.sh clang' CFLAGS='-O1' WERROR=-Werror objects
# as many as there are processors, where make was not told
CHECK_JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
.PHONY: objects
objects: $(IMPORT_OBJ) $(call obj,$(MODEL_SRC) $(KEYMAP_SRC) $(SESSION_SRC) $(ATTACH_SRC) $(TUI_SRC) $(EXAMPLE_SRC)) \
	$(if $(PLUGGABLE),$(PLUGGABLE_OBJ)) $(ONEDNN_OBJ) $(TRACEME_OBJ) $(PYTHON_OBJ) $(call obj,$(STAGE_SRC)) $(foreach p,$(filter-out attach,$(PROBES)),$(call obj,$(call src,probes/$(p)/*.c)))

ASAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
check-asan:
	@$(MAKE) -s O=$(O)/asan CFLAGS='-O1 -g' SAN='$(ASAN)' tests
	@O=$(O)/asan tests/run.sh $(SUITES_ASAN)
	@$(MAKE) -s check-tsan

check-tsan:
	@$(MAKE) -s O=$(O)/tsan CFLAGS='-O1 -g' SAN='-fsanitize=thread' tsan-programs
	@O=$(O)/tsan tests/run.sh $(SUITES_TSAN)

.PHONY: tsan-programs
tsan-programs: all $(O)/tests/unit $(O)/tests/burst $(addprefix $(O)/tests/cuda/,cuda_stress cuda_play 13.0/libcupti.so.13 nvml/libnvidia-ml.so.1)

# Random keys under the sanitizers, KEYS=1000000 SEED=…
.PHONY: soak-keys
soak-keys:
	@$(MAKE) -s O=$(O)/asan CFLAGS='-O1 -g' SAN='$(ASAN)' $(O)/asan/tftop
	@O=$(O)/asan tests/soak/keys.py --keys $(or $(KEYS),1000000) $(if $(SEED),--seed $(SEED))

golden: all
	@O=$(O) tests/golden/run.sh --rewrite

# tftop comes and goes at random, MINUTES=30 SEED=…; ATTACHES=1000: so often, and what each costs (ONLY=program).
.PHONY: soak
soak: tests
	@O=$(O) tests/soak/soak.py $(if $(ATTACHES),--attaches $(ATTACHES) $(if $(ONLY),--only "$(ONLY)"),--minutes $(or $(MINUTES),30)) $(if $(SEED),--seed $(SEED))

# What can break, so many times each; writes the table of docs/reliability.md.
.PHONY: faults
faults: tests
	@O=$(O) tests/faults/run.py --tries $(or $(TRIES),5) $(if $(ONLY),--only '$(ONLY)',--write docs/reliability.md)

fuzz:
	@$(MAKE) -s O=$(O)/asan CFLAGS='-O1 -g' SAN='$(ASAN)' $(O)/asan/tests/fuzz
	@O=$(O)/asan tests/fuzz/run.sh --seconds $(or $(SECONDS),60)

# Every text that a user may read, with its place, for a person to read from first to last.
.PHONY: messages
messages:
	@tests/tree/messages.py $$(git ls-files 'tui/*.[ch]' 'model/*.[ch]' 'keymap/*.[ch]' 'keymap/*.def' 'probes/*.[ch]')

# tests/bench/X_bench.c is one program; those of the probes link the runtime.
BENCH := $(patsubst tests/bench/%.c,$(O)/tests/bench/%,$(call src,tests/bench/*_bench.c))
bench: all $(if $(ONLY),,tests) $(BENCH) $(O)/tests/burst $(CUDA_DOUBLES) $(addprefix $(O)/tests/cuda/,cuda_launch libtftop-least.so)
	@$(if $(ONLY),,O=$(O) TIMING=1 tests/run.sh --alone $(SUITES_TIMING);) O=$(O) tests/bench/run.sh $(ONLY)
$(O)/tests/bench/acts_bench: LDFLAGS += -Wl,--wrap=acts_push,--wrap=analyses_poll,--wrap=analyses_run
$(addprefix $(O)/tests/bench/,model_bench acts_bench executions_bench): $(O)/tests/bench/%: $(O)/obj/tests/bench/%.o $(O)/libmodel.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(MODEL_LIBS) -lpthread -lm
$(O)/tests/bench/key_bench: LDFLAGS += -Wl,--wrap=model_lock,--wrap=model_unlock,--wrap=model_yield
$(O)/tests/bench/key_bench: $(O)/obj/tests/bench/key_bench.o $(O)/libtui.a $(O)/libmodel.a $(O)/libkeymap.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) $(IMAGE_LD) -o $@ $^ $(TFTOP_LIBS) $(MODEL_LIBS) -lutil
$(O)/tests/bench/rt_bench: $(O)/obj/tests/bench/rt_bench.o $(O)/lib/libtftop-runtime.so
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $< -L$(O)/lib -ltftop-runtime -Wl,-rpath,'$$ORIGIN/../../lib' \
		-llttng-ust -lpthread -ldl
$(O)/tests/bench/opencl_bench: $(O)/obj/tests/bench/opencl_bench.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ -lOpenCL -lpthread -ldl

# The man page's keys and commands come from the tables of the program.
.PHONY: docs
docs: $(O)/tftop
	@for page in tftop.1 tftoprc.5; do tests/manpage.sh $(O)/tftop docs/$$page.in > docs/$$page.new && \
		mv docs/$$page.new docs/$$page || exit 1; done
	@for shell in bash zsh fish; do $(O)/tftop --print=$$shell > docs/tftop.$$shell.new && \
		mv docs/tftop.$$shell.new docs/tftop.$$shell || exit 1; done
	@tests/schema_page.py > docs/schema.md.new && mv docs/schema.md.new docs/schema.md

# ---- the bundle ----

BUNDLE := tftop-$(VERSION)-$(firstword $(subst -, ,$(shell $(CC) -dumpmachine))).tar.xz
.PHONY: bundle
bundle: all $(O)/bundle/tftop
	@O=$(O) tests/bundle.sh $(VERSION) $(BUNDLE) $(PROBE_LIBS) $(PLUGGABLE)

# ---- install ----

INSTALLED_LIBS := $(libdir)/tftop
COMPLETIONS := $(prefix)/share/bash-completion/completions
COMPLETIONS_ZSH := $(prefix)/share/zsh/vendor-completions
COMPLETIONS_FISH := $(prefix)/share/fish/vendor_completions.d
.PHONY: install uninstall clean help
install: all
	install -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(INSTALLED_LIBS)' '$(DESTDIR)$(mandir)/man1' '$(DESTDIR)$(mandir)/man5' \
		'$(DESTDIR)$(COMPLETIONS)' '$(DESTDIR)$(COMPLETIONS_ZSH)' '$(DESTDIR)$(COMPLETIONS_FISH)'
	install -m 755 $(O)/tftop '$(DESTDIR)$(bindir)/tftop'
	install -m 755 $(PROBE_LIBS) $(PLUGGABLE) '$(DESTDIR)$(INSTALLED_LIBS)'
	install -m 644 docs/tftop.1 '$(DESTDIR)$(mandir)/man1/tftop.1'
	install -m 644 docs/tftoprc.5 '$(DESTDIR)$(mandir)/man5/tftoprc.5'
	install -m 644 docs/tftop.bash '$(DESTDIR)$(COMPLETIONS)/tftop'
	install -m 644 docs/tftop.zsh '$(DESTDIR)$(COMPLETIONS_ZSH)/_tftop'
	install -m 644 docs/tftop.fish '$(DESTDIR)$(COMPLETIONS_FISH)/tftop.fish'

uninstall:
	rm -f '$(DESTDIR)$(bindir)/tftop' '$(DESTDIR)$(mandir)/man1/tftop.1' '$(DESTDIR)$(mandir)/man5/tftoprc.5' \
		'$(DESTDIR)$(COMPLETIONS)/tftop' '$(DESTDIR)$(COMPLETIONS_ZSH)/_tftop' '$(DESTDIR)$(COMPLETIONS_FISH)/tftop.fish'
	rm -f $(PROBES:%='$(DESTDIR)$(INSTALLED_LIBS)/libtftop-%.so') '$(DESTDIR)$(INSTALLED_LIBS)/libtftop_pluggable.so'
	[ ! -d '$(DESTDIR)$(INSTALLED_LIBS)' ] || rmdir '$(DESTDIR)$(INSTALLED_LIBS)'

clean:
	rm -rf $(O)

help:
	@printf '%s\n' \
	  'make              build tftop, its probes and the example in $(O)/' \
	  'make deps         install what is missing (with apt; names the packages first)' \
	  'make demo         install, build, and train a small network live on the screen' \
	  'make check        run all tests (at most 15 minutes on 2 cores); ONLY=WORD: some suites' \
	  'make check-timing tests that only a clock can judge, on a machine that does nothing else' \
	  'make check-asan   parts of the tests under all sanitizers' \
	  'make check-tsan   parts of the tests under the thread sanitizer' \
	  'make check-versions  tests with other versions of frameworks (fetches 2 GB each)' \
	  'make check-warnings  every file with -Werror, by gcc and by clang' \
	  'make bench        figures of speed and cost, each beside something that runs in the same' \
	  '                  minute; runs check-timing first, unless ONLY= is given' \
	  'make soak-keys    press a million random keys under the sanitizers' \
	  'make soak         attach, detach and kill tftop at random, MINUTES=30; ATTACHES=1000: a table' \
	  'make faults       break what is around tftop, TRIES=5; writes docs/reliability.md' \
	  'make fuzz         feed parsers and decoders with random changes, SECONDS=60' \
	  'make golden       rewrite the expected screens' \
	  'make docs         make manual pages, completions and docs/schema.md from their tables' \
	  'make messages     print every text of the program, with file and line' \
	  'make bundle       tftop with all that it needs but the C library: $(BUNDLE)' \
	  'make install      DESTDIR=, prefix=$(prefix)' \
	  'make uninstall, make clean'
