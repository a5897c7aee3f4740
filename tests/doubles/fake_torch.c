/* SPDX-License-Identifier: MIT */
/*
 * A library that looks like PyTorch's to a probe: the same symbols, called through the
 * PLT, with at::RecordFunction laid out as in a version, or as in none.
 *
 *	-DFIRST=N	where its thread's number lies (88)
 *	-DSEQUENCE=N	where its sequence number (200)
 *	-DHANDLE=N	where its own number (312; 256 in 1.13)
 *	-DOLD		as the wheels of 1.13: begins by name, strings of before C++11
 *	-DNO_SCOPE, -DNO_SEQUENCE, -DNO_NAME, -DNO_INPUTS, -DNO_FORWARD, -DNO_HANDLE
 *			this is not where it is in the versions that are known
 *	-DNO_TYPES	has no function that tells them
 *	-DNO_OBJECTS	none that makes such objects
 *	-DTAG=N		of a tensor among the inputs (1)
 *	-DPAD=N		words before each field of a tensor and its storage (0)
 *	-DNO_STORAGE	a tensor's is not to be found
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define RF "_ZN2at14RecordFunction"
#define CALLBACKS 8
#ifdef OLD
#define STRING 8
#else
#define STRING 32
#endif
#ifndef TAG
#define TAG 1
#endif

struct callback {
	void *(*start)(void **context, const void *rf);
	void (*end)(const void *rf, void *context);
	double probability;
	uint8_t scopes[10], needs_inputs, needs_outputs, needs_ids;
};
struct variant {
	size_t length;
	const char *text;
	uint8_t index;
};
struct record {
	_Alignas(8) char bytes[512];
	const char *name;
	struct callback called[CALLBACKS];
	int n;
};
struct vector {
	void *begin, *end, *room;
};
struct ivalue {
	const void *payload;
	uint64_t tag;
};
#ifndef PAD
#define PAD 0
#endif
struct storage {
	const void *table;
	int64_t pad[PAD + 1];
	void *data;
	int64_t bytes;
};
struct tensor {
	const void *table;
	int64_t sizes[2];
	const char *type;
	int64_t pad[PAD + 1];
	struct storage *storage;
	int64_t offset, numel;
};

static struct {
	struct callback c;
	uint64_t id;
} callbacks[CALLBACKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ids, handles, threads;
static __thread uint64_t thread;

#ifdef NO_ADD
API uint64_t add(struct callback c);
#else
API uint64_t add(struct callback c) NAMED("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
#endif
API uint64_t add(struct callback c)
{
	uint64_t id = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < CALLBACKS && !id; i++) {
		if (callbacks[i].id)
			continue;
		id = callbacks[i].id = ++ids;
		callbacks[i].c = c;
	}
	pthread_mutex_unlock(&lock);
	return id;
}

API void take(uint64_t id) NAMED("_ZN2at14removeCallbackEm");
API void take(uint64_t id)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < CALLBACKS; i++)
		if (callbacks[i].id == id)
			callbacks[i].id = 0;
	pthread_mutex_unlock(&lock);
}

API int fake_callbacks(int scope);
API int fake_callbacks(int scope)
{
	int n = 0;

	for (int i = 0; i < CALLBACKS; i++)
		n += callbacks[i].id && callbacks[i].c.scopes[scope];
	return n;
}

API uint64_t number(void) NAMED(RF "15currentThreadIdEv");
API uint64_t number(void)
{
	if (!thread)
		thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return thread;
}

static void put(struct record *r, int at, uint64_t value)
{
	memcpy(r->bytes + at, &value, sizeof(value));
}

static uint64_t get(const struct record *r, int at)
{
	uint64_t value;

	memcpy(&value, r->bytes + at, sizeof(value));
	return value;
}

#ifdef NO_OBJECTS
API void construct(struct record *r, uint8_t scope);
#else
API void construct(struct record *r, uint8_t scope) NAMED(RF "C1ENS_11RecordScopeE");
#endif
API void construct(struct record *r, uint8_t scope)
{
	r->n = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < CALLBACKS; i++)
		if (callbacks[i].id && callbacks[i].c.scopes[scope])
			r->called[r->n++] = callbacks[i].c;
	pthread_mutex_unlock(&lock);
#ifndef NO_SCOPE
	put(r, FIRST, number());
	r->bytes[FIRST + 8] = (char)scope;
#endif
#ifdef NO_HANDLE
	put(r, HANDLE, __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED) * 3);
#else
	put(r, HANDLE, __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED));
#endif
#ifdef NO_FORWARD
	put(r, HANDLE - 8, UINT64_C(0x1234567890));
#endif
#ifdef NO_INPUTS
	put(r, SEQUENCE + 16, 1);
#endif
}

/* The name is a std::string, which starts with the address of its text; a schema has its own. */
static void start(struct record *r, const char *name, const void *schema, int64_t sequence)
{
	int at = SEQUENCE - 8 - STRING;
	void *context;

	r->name = schema || strlen(name) > 15 || STRING == 8 ? strdup(name) :
		  strcpy(r->bytes + at + 16, name);
	r->bytes[SEQUENCE - 8] = schema != NULL;
	put(r, at, schema ? (uintptr_t)schema : (uintptr_t)r->name);
#ifdef NO_NAME
	put(r, at, 0);
#endif
#ifdef NO_SEQUENCE
	sequence ^= 0x55;
#endif
	put(r, SEQUENCE, (uint64_t)sequence);
	for (int i = 0; i < r->n; i++)
		if (r->called[i].start)
			r->called[i].start(&context, r);
}

#ifdef OLD
API void before(struct record *r, const char *name, int64_t sequence) NAMED(RF "6beforeEPKcl");
API void before(struct record *r, const char *name, int64_t sequence)
{
	start(r, name, NULL, sequence);
}
#else
API void before(struct record *r, struct variant name, int64_t sequence)
	NAMED(RF "6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEE"
	      "St17reference_wrapperIKN3c1014FunctionSchemaEEEEl");
API void before(struct record *r, struct variant name, int64_t sequence)
{
	start(r, name.text, NULL, sequence);
}
#endif

API void destroy(struct record *r) NAMED(RF "D1Ev");
API void destroy(struct record *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->called[i].end)
			r->called[i].end(r, NULL);
}

API const char *name_of(const struct record *r) NAMED("_ZNK2at14RecordFunction4nameEv");
API const char *name_of(const struct record *r)
{
	return r->name;
}

API size_t inputs(const struct record *r) NAMED("_ZNK2at14RecordFunction10num_inputsEv");
API size_t inputs(const struct record *r)
{
	return get(r, SEQUENCE + 16);
}

API const void *plain[4] NAMED("_ZTVN3c1010TensorImplE");
API const void *undefined[4] NAMED("_ZTVN3c1019UndefinedTensorImplE");
const void *plain[4], *undefined[4];
static const void *other[4];

#ifdef OLD
#define SIZES "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionE"
#define TYPES "_ZN5torch8profiler4impl10inputTypesERKN2at14RecordFunctionE"
struct string {
	char *text;	/* preceded by length, capacity and reference count */
};
#else
#define SIZES "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb"
#define TYPES "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE"
struct string {
	char *text;
	size_t length;
	char own[16];
};
#endif

#ifndef NO_TYPES
static void set_type(struct string *s, const char *text)
{
	size_t n = strlen(text);
#ifdef OLD
	static size_t none[4];
	size_t *made = n ? calloc(1, 3 * sizeof(*made) + n + 1) : none;

	made[0] = made[1] = n;
	s->text = memcpy(made + 3, text, n + 1);
#else
	s->text = n < sizeof(s->own) ? s->own : malloc(n + 1);
	s->length = n;
	memcpy(s->text, text, n + 1);
#endif
}

API struct vector *types(struct vector *out, const struct record *r) NAMED(TYPES);
API struct vector *types(struct vector *out, const struct record *r)
{
	const struct ivalue *v = (const struct ivalue *)(uintptr_t)get(r, SEQUENCE + 8);
	struct string *all = calloc(inputs(r), sizeof(*all));

	for (size_t i = 0; i < inputs(r); i++)
		set_type(&all[i],
			 v[i].tag == TAG ? ((const struct tensor *)v[i].payload)->type : "");
	*out = (struct vector){ all, all + inputs(r), all + inputs(r) };
	return out;
}
#endif

#ifndef OLD
API int32_t dtype_of(const struct ivalue *v, int32_t *out) NAMED("aoti_torch_get_dtype");
API int32_t dtype_of(const struct ivalue *v, int32_t *out)
{
	(void)v;
	*out = 6;	/* float */
	return 0;
}

API int32_t device_of(const struct ivalue *v, int32_t *out) NAMED("aoti_torch_get_device_type");
API int32_t device_of(const struct ivalue *v, int32_t *out)
{
	(void)v;
	*out = 0;
	return 0;
}

/* A handle points to a pointer to the tensor. */
API int32_t create(void *data, int64_t n, const int64_t *lengths, const int64_t *strides,
		   int64_t offset, int32_t type, int32_t device, int32_t index, void **out)
	NAMED("aoti_torch_create_tensor_from_blob");
API int32_t create(void *data, int64_t n, const int64_t *lengths, const int64_t *strides,
		   int64_t offset, int32_t type, int32_t device, int32_t index, void **out)
{
	static struct storage storage;
	static struct tensor tensor, *handle = &tensor;

	(void)n, (void)strides, (void)type, (void)device, (void)index;
	storage.bytes = (offset + lengths[0] * lengths[1]) * (int64_t)sizeof(float);
	storage.data = data;
	tensor = (struct tensor) {
		.table = plain + 2, .sizes = { lengths[0], lengths[1] }, .storage = &storage,
		.offset = offset, .numel = lengths[0] * lengths[1],
	};
#ifdef NO_STORAGE
	storage.data = NULL;
#endif
	*out = &handle;
	return 0;
}

API int32_t delete(void *handle) NAMED("aoti_torch_delete_tensor_object");
API int32_t delete(void *handle)
{
	(void)handle;
	return 0;
}
#endif

API struct vector *sizes(struct vector *out, const struct record *r) NAMED(SIZES);
API struct vector *sizes(struct vector *out, const struct record *r)
{
	const struct ivalue *v = (const struct ivalue *)(uintptr_t)get(r, SEQUENCE + 8);
	struct vector *all = calloc(inputs(r), sizeof(*all));

	for (size_t i = 0; i < inputs(r); i++) {
		const struct tensor *t = v[i].payload;

		if (v[i].tag != TAG)
			continue;
		if (t->table == other + 2)
			abort();	/* would throw */
		all[i].begin = malloc(sizeof(t->sizes));
		memcpy(all[i].begin, t->sizes, sizeof(t->sizes));
		all[i].end = (char *)all[i].begin + sizeof(t->sizes);
	}
	*out = (struct vector){ all, all + inputs(r), all + inputs(r) };
	return out;
}

/* ---- memory ---- */

API void *alloc_cpu(size_t bytes) NAMED("_ZN3c109alloc_cpuEm");
API void *alloc_cpu(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

API void free_cpu(void *block) NAMED("_ZN3c108free_cpuEPv");
API void free_cpu(void *block)
{
	free(block);
}

struct device {
	int8_t type, index;
};
API void report(void *block, int64_t bytes, size_t allocated, size_t reserved, struct device d)
	NAMED("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
static int reports;
API void report(void *block, int64_t bytes, size_t allocated, size_t reserved, struct device d)
{
	(void)block, (void)bytes, (void)allocated, (void)reserved, (void)d;
	reports++;
}

/* ---- for the program ---- */

API void *initModule(void);
API void *initModule(void)
{
	return &ids;
}

/* As torch/_C.so does. */
API void *fake_import(void);
API void *fake_import(void)
{
	return initModule();
}

API int fake_memory(void);
API int fake_memory(void)
{
	void *small = alloc_cpu(64), *large = alloc_cpu(8192);

	report(large, 65536, 1, 2, (struct device){ 1, 0 });
	report(large, -65536, 1, 2, (struct device){ 1, 0 });
	free_cpu(large);
	free_cpu(small);
	return reports;
}

/* The tensor to copy: data that is always the same, different data at the same address, or no
 * data. */
static struct tensor *copied(int which)
{
	static float floats[2][4096];
	static struct storage storages[] = {
		{ .data = floats[0], .bytes = sizeof(floats[0]) },
		{ .data = floats[1], .bytes = sizeof(floats[1]) }, { .data = NULL },
	};
	static struct tensor tensor = {
		.table = plain + 2, .sizes = { 64, 32 }, .type = "float", .offset = 2048,
		.numel = 2048,
	};

	tensor.storage = &storages[which];
	floats[1][4095]++;
	return &tensor;
}

/* An op; of an operator when `schema`. tensors: 1, 3 plain ones, 2 another kind; from 4 on
 * copied(), and another kind. */
API void *fake_begin(const char *name, bool schema, uint8_t scope, int64_t sequence,
		     uint64_t forward, int tensors);
API void *fake_begin(const char *name, bool schema, uint8_t scope, int64_t sequence,
		     uint64_t forward, int tensors)
{
	static struct tensor kinds[] = {
		{ .table = plain + 2, .sizes = { 64, 3 }, .type = "float" },
		{ .table = other + 2, .sizes = { 1, 1 }, .type = "float" },
		{ .table = plain + 2, .sizes = { 5, 7 }, .type = "c10::complex<double>" },
	};
	static struct ivalue v[2];
	struct record *r = calloc(1, sizeof(*r));

	construct(r, scope);
	v[0] = (struct ivalue){ tensors > 3 ? copied(tensors - 4) :
				tensors ? &kinds[tensors - 1] : NULL, TAG };
	v[1] = (struct ivalue){ (void *)5, TAG == 1 ? 5 : 1 };	/* a number */
	if (tensors > 3)
		v[1] = (struct ivalue){ &kinds[1], TAG };
	put(r, SEQUENCE + 8, (uintptr_t)v);
	put(r, SEQUENCE + 16, tensors ? 2 : 0);
	put(r, HANDLE - 8, forward);
	start(r, name, schema ? name : NULL, sequence);
	return r;
}

API void fake_end(void *r);
API void fake_end(void *r)
{
	destroy(r);
	free(r);
}
