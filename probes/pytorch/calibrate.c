/* SPDX-License-Identifier: MIT */
/*
 * Determines at the start where the fields of at::RecordFunction are.
 *
 * Idea: PyTorch's constructor creates two such objects in memory of the probe, with different
 * scopes and with known names and sequence numbers, and the probe looks for these values in the
 * bytes. A field that is not found, or is not where its neighbours imply, is left out. There is no
 * table of versions.
 */
#include <string.h>

#include "probes/pytorch/probe.h"

#define RF "_ZN2at14RecordFunction"
#define OF_RF "ERKN2at14RecordFunctionE"
#define INPUT_SIZES "_ZN5torch8profiler4impl10inputSizes" OF_RF
#define INPUT_TYPES "_ZN5torch8profiler4impl10inputTypes"
#define OBJECT_BYTES 4096
#define IMAGE_BYTES 512		/* size of an object: 288 bytes in 1.13, 344 in 2.13 */
#define SEQUENCE INT64_C(0x5ca1ab1e0ddba115)
#define NAME "tftop"

struct torch_layout torch_layout = { -1, -1, -1, -1, -1, -1, -1 };
struct torch_api torch_api;

static _Thread_local int trying;	/* 1, 2: the callbacks belong to these attempts */
static unsigned char image[2][IMAGE_BYTES];
static const char *object_at, *name_at[2];

static void *look(void **context, const void *rf)
{
	*context = NULL;
	if (trying) {
		memcpy(image[trying - 1], rf, IMAGE_BYTES);
		object_at = rf;
		name_at[trying - 1] = torch_api.name(rf);
	}
	return context;
}

/* std::variant<std::string_view, std::reference_wrapper<const c10::FunctionSchema>> */
struct variant {
	size_t length;
	const char *text;
	uint8_t index;
};

typedef void before_2(void *rf, struct variant name, int64_t sequence);
typedef void before_1(void *rf, const char *name, int64_t sequence);

/* Makes two objects, which a callback of the probe sees. */
static bool make_two(void)
{
	static _Alignas(64) unsigned char object[OBJECT_BYTES];
	void (*construct)(void *, uint8_t), (*destroy)(void *);
	struct variant name = { strlen(NAME), NAME, 0 };
	before_2 *before;
	before_1 *old;
	uint64_t id;

	*(void **)&construct = torch_lib->find(RF "C1ENS_11RecordScopeE");
	*(void **)&destroy = torch_lib->find(RF "D1Ev");
	*(void **)&before =
		torch_lib->find(RF "6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIc"
				   "EESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl");
	*(void **)&old = torch_lib->find(RF "6beforeEPKcl");
	if (!construct || !destroy || (!before && !old))
		return false;
	id = torch_api.add((struct torch_callback){
		.start = look, .probability = 1, .scopes = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
		.needs_ids = 1,
	});
	object_at = NULL;
	for (int i = 0; i < 2; i++) {
		int64_t sequence = i ? SEQUENCE : 5;

		memset(object, 0, sizeof(object));
		trying = i + 1;
		construct(object, i ? TORCH_USER : TORCH_FUNCTION);
		if (before)
			before(object, name, sequence);
		else
			old(object, NAME, sequence);
		destroy(object);
	}
	trying = 0;
	torch_api.remove(id);
	return object_at == (const char *)object;
}

/* Finds the name: a variant of std::string and a reference to an operator's schema, before the
 * sequence number. A string starts with the address of its text, which identifies it; a schema
 * would be at the same place. */
static void calibrate_find_name(int sequence)
{
	static const int sizes[] = { 32, 8 };	/* size of a string: since C++11, before */

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int at = sequence - 8 - sizes[i];

		if (at < 0 || torch_u8(image[0], sequence - 8) ||
		    torch_u8(image[1], sequence - 8) ||
		    torch_u64(image[0], at) != (uintptr_t)name_at[0] ||
		    torch_u64(image[1], at) != (uintptr_t)name_at[1])
			continue;
		torch_layout.is_schema = sequence - 8;
		torch_layout.schema = at;
	}
}

static bool is_zero(int at)
{
	return at + 8 <= IMAGE_BYTES && !torch_u64(image[0], at) && !torch_u64(image[1], at);
}

static void calibrate_find_fields(void)
{
	struct torch_layout *l = &torch_layout;
	uint64_t thread = torch_api.thread ? torch_api.thread() : 0;

	for (int at = 8; at + 16 <= IMAGE_BYTES; at += 8) {
		uint64_t a = torch_u64(image[0], at), b = torch_u64(image[1], at);

		if (l->sequence < 0 && b == (uint64_t)SEQUENCE && a == 5) {
			l->sequence = at;
		} else if (l->sequence < 0 && l->scope < 0 && thread && a == thread &&
			   b == thread &&
			   torch_u8(image[0], at + 8) == TORCH_FUNCTION &&
			   torch_u8(image[1], at + 8) == TORCH_USER) {
			l->scope = at + 8;
		} else if (l->sequence >= 0 && l->handle < 0 && a && b == a + 1) {
			l->handle = at;
		}
	}
	if (l->sequence < 0)
		return;
	calibrate_find_name(l->sequence);
	/* these objects have no inputs and no forward op */
	if (is_zero(l->sequence + 8) && is_zero(l->sequence + 16))
		l->inputs = l->sequence + 8;
	if (l->handle > l->sequence + 24 && is_zero(l->handle - 8))
		l->forward_thread = l->handle - 8;
}

/* Finds the functions that read an op's inputs. */
static void find_inputs(void)
{
	struct torch_api *api = &torch_api;
	const char *tensor = torch_lib->find("_ZTVN3c1010TensorImplE");
	const char *undefined = torch_lib->find("_ZTVN3c1019UndefinedTensorImplE");
	void *sizes = torch_lib->find(INPUT_SIZES "b");

	/* 1.x does not flatten lists, so the function has one argument less */
	*(void **)&api->sizes = sizes ? sizes : torch_lib->find(INPUT_SIZES);
	*(void **)&api->inputs = torch_lib->find("_ZNK2at14RecordFunction10num_inputsEv");
	*(void **)&api->types = torch_lib->find(INPUT_TYPES "B5cxx11" OF_RF);
	if (!api->types) {
		*(void **)&api->types = torch_lib->find(INPUT_TYPES OF_RF);
		api->old_strings = true;
	}
	/* an object points behind the first two words of its table */
	api->tensor = tensor ? tensor + 2 * sizeof(void *) : NULL;
	api->undefined = undefined ? undefined + 2 * sizeof(void *) : NULL;
	if (!api->sizes || !api->inputs || !api->tensor)
		torch_blind("what reads the inputs of an op was not found: no shapes");
	else if (!api->types)
		torch_blind("what reads the types of inputs was not found: shapes without types");
	torch_sources_calibrate();
}

static void say_what_is_missing(void)
{
	const struct torch_layout *l = &torch_layout;

	if (l->scope < 0)
		torch_blind("the scope of an op was not found: ranges of the user count as ops, no "
			    "links from backward to forward");
	if (l->sequence < 0 || l->forward_thread < 0)
		torch_blind("sequence numbers were not found: no links from backward to forward");
	if (l->is_schema < 0)
		torch_blind("the schema of an op was not found: no shapes");
	else if (l->inputs < 0)
		torch_blind("the inputs of an op were not found: no shapes");
	if (l->handle < 0)
		torch_blind("the number of an op was not found: ops that end on another thread "
			    "are closed late");
}

bool torch_calibrate(void)
{
	struct torch_api *api = &torch_api;

	*(void **)&api->add =
		torch_lib->find("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
	*(void **)&api->remove = torch_lib->find("_ZN2at14removeCallbackEm");
	*(void **)&api->name = torch_lib->find("_ZNK2at14RecordFunction4nameEv");
	*(void **)&api->thread = torch_lib->find(RF "15currentThreadIdEv");
	if (!api->add || !api->remove || !api->name)
		return false;
	find_inputs();
	if (!make_two()) {
		torch_blind("an unknown form of at::RecordFunction: names of ops only, no links "
			    "from backward to forward, no shapes");
		return true;
	}
	calibrate_find_fields();
	say_what_is_missing();
	return true;
}
