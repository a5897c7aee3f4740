/* SPDX-License-Identifier: MIT */
#include "probes/cuda/beside.h"

#include <dlfcn.h>
#include <string.h>

#include "probes/cuda/probe.h"
#include "probes/start/libraries.h"

#define CLIENTS 8u
#define DOMAINS (CUPTI_DOMAIN_STATE + 1)
#define IDS 1024u	/* of a domain; those above are passed on as if they had been asked for */

/* What a client calls to have something of CUPTI, or to give it back. */
#define BESIDE_FUNCTIONS(X) \
	X(cuptiSubscribe) X(cuptiSubscribe_v2) X(cuptiUnsubscribe) X(cuptiFinalize) \
	X(cuptiEnableCallback) X(cuptiEnableDomain) X(cuptiEnableAllDomains) \
	X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) X(cuptiActivityDisable) \
	X(cuptiActivityEnableContext) X(cuptiActivityDisableContext) \
	X(cuptiActivityEnableAndDump) X(cuptiActivityFlushAll) X(cuptiActivitySetAttribute) \
	X(cuptiActivityRegisterTimestampCallback)

enum function {
#define X(name) AT_##name,
	BESIDE_FUNCTIONS(X)
#undef X
	FUNCTIONS
};

static const char *const names[FUNCTIONS] = {
#define X(name) #name,
	BESIDE_FUNCTIONS(X)
#undef X
};

/* The functions of the libcupti that tftop uses; set before anything is replaced. */
static void *real[FUNCTIONS];

/* A subscription that a client has made. */
struct client {
	cupti_callback_fn *callback;
	void *user;
	struct cupti_subscriber *_Atomic handle;	/* NULL: it is being made */
	atomic_bool used, wanted[DOMAINS][IDS], whole[DOMAINS];
	atomic_bool mixed;	/* tftop has used it, so that not every callback is the client's */
};
static struct client clients[CLIENTS];
static struct client *_Atomic subscribed;	/* NULL: no client, or one that was not seen */
static struct client *_Atomic shared;		/* the one whose subscription tftop uses */
static atomic_bool unseen;

static atomic_bool kinds[CUPTI_KIND_LIMIT];
static cupti_timestamp_fn *_Atomic clock_of;

static atomic_uint inside;	/* calls of clients that are running */
static _Atomic int64_t last_ns;	/* when one ended; 0: never */
static void (*look)(void);
static int (*get_state)(uint32_t *, struct cupti_subscriber *, uint32_t, uint32_t);

/* ---- the functions that are replaced ---- */

#define REAL(name, ...) \
	((int (*)(__VA_ARGS__))real[AT_##name])

/* ---- what a client does, in order ---- */

static void client_begins(void)
{
	atomic_fetch_add(&inside, 1);
	collect_let_go();
}

static void client_ends(void)
{
	atomic_store(&last_ns, rt_now_ns());
	atomic_fetch_sub(&inside, 1);
}

bool beside_wants(void)
{
	return atomic_load(&inside) != 0;
}

static bool client_rests(const struct client *c)
{
	static const uint32_t of_calls[] = {
		CUPTI_DOMAIN_DRIVER, CUPTI_DOMAIN_RUNTIME, CUPTI_DOMAIN_SYNC,
	};

	for (size_t d = 0; d < ARRAY_LEN(of_calls); d++)
		for (uint32_t id = 0; id < IDS; id++)
			if (atomic_load_explicit(&c->wanted[of_calls[d]][id],
						 memory_order_relaxed))
				return false;
	return true;
}

bool beside_free(void)
{
	const struct client *c = atomic_load(&subscribed);
	int64_t quiet_ns = rt_now_ns() - atomic_load(&last_ns);

	if (atomic_load(&inside) || atomic_load(&unseen) || quiet_ns < BESIDE_QUIET_NS)
		return false;
	for (uint32_t kind = 0; kind < CUPTI_KIND_LIMIT; kind++)
		if (atomic_load_explicit(&kinds[kind], memory_order_relaxed))
			return false;
	if (beside_buffers_out() && quiet_ns < BESIDE_BUFFERS_NS)
		return false;
	return !c || client_rests(c);
}

void beside_unseen(void)
{
	atomic_store(&unseen, true);
}

/* ---- subscriptions ---- */

static void beside_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	struct client *c = user;
	bool ours = atomic_load_explicit(&shared, memory_order_acquire) == c;

	if (unlikely(ours))
		calls_callback(NULL, domain, id, data);
	if (!atomic_load_explicit(&c->mixed, memory_order_relaxed) || domain >= DOMAINS ||
	    id >= IDS ||
	    atomic_load_explicit(&c->wanted[domain][id], memory_order_relaxed))
		c->callback(c->user, domain, id, data);
}

static struct client *client_new(cupti_callback_fn *callback, void *user)
{
	for (struct client *c = clients; callback && c < clients + CLIENTS; c++) {
		if (atomic_exchange(&c->used, true))
			continue;
		memset(c->wanted, 0, sizeof(c->wanted));
		memset(c->whole, 0, sizeof(c->whole));
		atomic_store(&c->mixed, false);
		c->callback = callback;
		c->user = user;
		return c;
	}
	return NULL;
}

static void client_free(struct client *c)
{
	atomic_store(&c->handle, NULL);
	atomic_store(&c->used, false);
}

static int client_subscribed(struct client *c, struct cupti_subscriber *const *handle, int result)
{
	if (result && c) {
		client_free(c);
	} else if (!result && c) {
		atomic_store(&c->handle, *handle);
		atomic_store(&subscribed, c);
	} else if (!result) {
		beside_unseen();	/* its subscription cannot be shared */
	}
	client_ends();
	return result;
}

static int our_cuptiSubscribe(struct cupti_subscriber **handle, cupti_callback_fn *callback,
			      void *user)
{
	struct client *c;
	int r;

	client_begins();
	c = client_new(callback, user);
	r = REAL(cuptiSubscribe, struct cupti_subscriber **, cupti_callback_fn *, void *)
		(handle, c ? beside_callback : callback, c ? c : user);
	return client_subscribed(c, handle, r);
}

static int our_cuptiSubscribe_v2(struct cupti_subscriber **handle, cupti_callback_fn *callback,
				 void *user, struct cupti_subscriber_params *params)
{
	int (*subscribe)(struct cupti_subscriber **, cupti_callback_fn *, void *,
			 struct cupti_subscriber_params *) = real[AT_cuptiSubscribe_v2];
	bool several = params && params->size >= CUPTI_SUBSCRIBER_PARAMS_132 &&
		       params->allow_others;
	struct client *c;

	/* one of several clients, which has buffers and callbacks of its own */
	if (cupti->several && several)
		return subscribe(handle, callback, user, params);
	client_begins();
	c = several ? NULL : client_new(callback, user);
	return client_subscribed(c, handle, subscribe(handle, c ? beside_callback : callback,
						      c ? (void *)c : user, params));
}

/* The client of a handle that its owner uses; NULL: not seen, or one of several. */
static struct client *client_of(const struct cupti_subscriber *handle)
{
	struct client *c = atomic_load(&subscribed);

	return c && atomic_load(&c->handle) == handle ? c : NULL;
}

static bool of_several(const struct cupti_subscriber *handle)
{
	return cupti->several && !client_of(handle);
}

static int our_cuptiUnsubscribe(struct cupti_subscriber *handle)
{
	int (*unsubscribe)(struct cupti_subscriber *) = real[AT_cuptiUnsubscribe];
	struct client *c;
	int r;

	if (of_several(handle))
		return unsubscribe(handle);
	client_begins();
	r = unsubscribe(handle);
	c = client_of(handle);
	if (!r && c) {
		atomic_store(&subscribed, NULL);
		client_free(c);
	}
	if (!r)
		atomic_store(&unseen, false);
	client_ends();
	return r;
}

static int our_cuptiFinalize(void)
{
	struct client *c;
	int r;

	client_begins();
	r = REAL(cuptiFinalize, void)();
	c = r ? NULL : atomic_exchange(&subscribed, NULL);
	if (c)
		client_free(c);
	for (uint32_t kind = 0; !r && kind < CUPTI_KIND_LIMIT; kind++)
		atomic_store(&kinds[kind], false);
	if (!r) {
		atomic_store(&unseen, false);
		atomic_store(&clock_of, NULL);
		beside_buffers_forget();
	}
	client_ends();
	return r;
}

static void note_wanted(struct client *c, uint32_t domain, uint32_t id, bool on)
{
	if (c && domain < DOMAINS && id < IDS)
		atomic_store(&c->wanted[domain][id], on);
}

static void note_domain(struct client *c, uint32_t domain, bool on)
{
	for (uint32_t id = 0; id < IDS; id++)
		note_wanted(c, domain, id, on);
	if (c && domain < DOMAINS)
		atomic_store(&c->whole[domain], on);
}

static int our_cuptiEnableCallback(uint32_t on, struct cupti_subscriber *handle, uint32_t domain,
				   uint32_t id)
{
	int (*enable)(uint32_t, struct cupti_subscriber *, uint32_t, uint32_t) =
		real[AT_cuptiEnableCallback];
	int r;

	if (of_several(handle))
		return enable(on, handle, domain, id);
	client_begins();
	r = enable(on, handle, domain, id);
	if (!r)
		note_wanted(client_of(handle), domain, id, on);
	client_ends();
	return r;
}

static int our_cuptiEnableDomain(uint32_t on, struct cupti_subscriber *handle, uint32_t domain)
{
	int (*enable)(uint32_t, struct cupti_subscriber *, uint32_t) =
		real[AT_cuptiEnableDomain];
	int r;

	if (of_several(handle))
		return enable(on, handle, domain);
	client_begins();
	r = enable(on, handle, domain);
	if (!r)
		note_domain(client_of(handle), domain, on);
	client_ends();
	return r;
}

static int our_cuptiEnableAllDomains(uint32_t on, struct cupti_subscriber *handle)
{
	int (*enable)(uint32_t, struct cupti_subscriber *) = real[AT_cuptiEnableAllDomains];
	int r;

	if (of_several(handle))
		return enable(on, handle);
	client_begins();
	r = enable(on, handle);
	for (uint32_t domain = 1; !r && domain < DOMAINS; domain++)
		note_domain(client_of(handle), domain, on);
	client_ends();
	return r;
}

/* Whether a client has callbacks of calls that it has not asked for here. */
static bool asked_elsewhere(const struct client *c)
{
	int (*state)(uint32_t *, struct cupti_subscriber *, uint32_t, uint32_t) = get_state;
	uint32_t on;

	for (uint32_t domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t id = 1; state && id < IDS; id++)
			if (!state(&on, atomic_load(&c->handle), domain, id) && on)
				return true;
	return !state;
}

bool beside_share(struct cupti_subscriber **handle)
{
	struct client *c = atomic_load(&subscribed);

	*handle = NULL;
	if (!c)
		return true;
	if (asked_elsewhere(c)) {
		beside_unseen();
		return false;
	}
	*handle = atomic_load(&c->handle);
	atomic_store(&c->mixed, true);
	atomic_store(&shared, c);
	return true;
}

void beside_unshare(void)
{
	struct client *c = atomic_exchange(&shared, NULL);
	struct cupti_subscriber *handle = c ? atomic_load(&c->handle) : NULL;

	for (uint32_t domain = 1; handle && domain < DOMAINS; domain++) {
		if (atomic_load(&c->whole[domain])) {
			REAL(cuptiEnableDomain, uint32_t, struct cupti_subscriber *, uint32_t)
				(1, handle, domain);
			continue;
		}
		for (uint32_t id = 0; id < IDS; id++)
			if (atomic_load(&c->wanted[domain][id]))
				REAL(cuptiEnableCallback, uint32_t, struct cupti_subscriber *,
				     uint32_t, uint32_t)(1, handle, domain, id);
	}
}

/* ---- kinds of records ---- */

static int client_kind(enum function of, uint32_t kind, bool on)
{
	int r;

	client_begins();
	r = ((int (*)(uint32_t))real[of])(kind);
	if (!r && kind < CUPTI_KIND_LIMIT)
		atomic_store(&kinds[kind], on);
	client_ends();
	return r;
}

static int our_cuptiActivityEnable(uint32_t kind)
{
	return client_kind(AT_cuptiActivityEnable, kind, true);
}

static int our_cuptiActivityEnableAndDump(uint32_t kind)
{
	return client_kind(AT_cuptiActivityEnableAndDump, kind, true);
}

static int our_cuptiActivityDisable(uint32_t kind)
{
	return client_kind(AT_cuptiActivityDisable, kind, false);
}

static int client_context(enum function of, void *context, uint32_t kind, bool on)
{
	int r;

	client_begins();
	r = ((int (*)(void *, uint32_t))real[of])(context, kind);
	if (!r && kind < CUPTI_KIND_LIMIT)
		atomic_store(&kinds[kind], on);
	client_ends();
	return r;
}

static int our_cuptiActivityEnableContext(void *context, uint32_t kind)
{
	return client_context(AT_cuptiActivityEnableContext, context, kind, true);
}

static int our_cuptiActivityDisableContext(void *context, uint32_t kind)
{
	return client_context(AT_cuptiActivityDisableContext, context, kind, false);
}

static int our_cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	int r;

	client_begins();
	r = REAL(cuptiActivitySetAttribute, uint32_t, size_t *, void *)(attribute, size, value);
	client_ends();
	return r;
}

/* ---- clocks ---- */

static uint64_t realtime(void)
{
	return (uint64_t)rt_clock_ns(CLOCK_REALTIME);
}

static int set_clock(cupti_timestamp_fn *function)
{
	return REAL(cuptiActivityRegisterTimestampCallback, cupti_timestamp_fn *)(function);
}

static int our_cuptiActivityRegisterTimestampCallback(cupti_timestamp_fn *function)
{
	int r;

	client_begins();
	r = set_clock(function);
	if (!r)
		atomic_store(&clock_of, function);
	client_ends();
	return r;
}

void beside_clock(bool ours)
{
	cupti_timestamp_fn *theirs = atomic_load(&clock_of);

	if (theirs)
		cuda_asked(set_clock(ours ? realtime : theirs), SAID_CLOCK, 1,
			   "the program's own profiler has given CUPTI a clock, which CUPTI does "
			   "not change: times of the device are wrong");
}

/* ---- buffers ---- */

static int our_cuptiActivityRegisterCallbacks(cupti_request_fn *request,
					      cupti_complete_fn *complete)
{
	int (*set)(cupti_request_fn *, cupti_complete_fn *) =
		real[AT_cuptiActivityRegisterCallbacks];
	int r;

	client_begins();
	r = request && complete ? set(beside_request, beside_complete) : set(request, complete);
	if (!r)
		beside_buffers_of(request, complete);
	client_ends();
	return r;
}

/* With tftop's records in them, incomplete buffers stay. */
static int our_cuptiActivityFlushAll(uint32_t flags)
{
	int r;

	if (collect_has() && !cupti->several)
		return REAL(cuptiActivityFlushAll, uint32_t)(flags & ~CUPTI_FLUSH_FORCED);
	atomic_fetch_add(&inside, 1);
	r = REAL(cuptiActivityFlushAll, uint32_t)(flags);
	client_ends();
	return r;
}

/* ---- where they are called ---- */

static void *const ours[FUNCTIONS] = {
#define X(name) our_##name,
	BESIDE_FUNCTIONS(X)
#undef X
};

static void *beside_take(const struct tft_import *import)
{
	int i = 0;

	while (i < FUNCTIONS && strcmp(names[i], import->name) != 0)
		i++;
	/* what is not bound yet can only become the function of the one libcupti that is mapped */
	if (i == FUNCTIONS || !real[i] ||
	    (import->unbound ? *cupti->note != '\0' : import->now != real[i]))
		return NULL;
	return ours[i];
}

void beside_start(void *libcupti)
{
	tft_imports_join *join = (tft_imports_join *)dlsym(RTLD_DEFAULT, TFT_IMPORTS_JOIN);

	for (int i = 0; i < FUNCTIONS; i++)
		real[i] = dlsym(libcupti, names[i]);
	get_state = (int (*)(uint32_t *, struct cupti_subscriber *, uint32_t, uint32_t))
		dlsym(libcupti, "cuptiGetCallbackState");
	look = join ? join(beside_take) : NULL;
}

void beside_look(void)
{
	if (look)
		look();
}
