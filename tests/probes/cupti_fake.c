/* SPDX-License-Identifier: MIT */
/*
 * A libcupti that only says what is called, for the search and for the choice of its two
 * families; tests/doubles/cuda has one that works. VERSION: what it says of itself;
 * SECOND: with the second family. FAKE_FAIL="name=result ..." in the environment lets a
 * function fail; who has subscribed already is FAKE_OTHER.
 *
 * Strict where the real one is: a function of the other family than the first one's is
 * refused with 39, a size of parameters that the version does not have with 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int family;	/* family of the current subscriber, 0 if there is none */
static char subscriber;

static int fails(const char *name)
{
	const char *all = getenv("FAKE_FAIL"), *at = all ? strstr(all, name) : NULL;
	size_t n = strlen(name);

	printf("%s\n", name);
	return at && at[n] == '=' ? atoi(at + n + 1) : 0;
}

static int call(const char *name, int of, const void *who)
{
	int result = fails(name);

	if (result)
		return result;
	if (of && family && family != of)
		return 39;
	return of == 2 && who != &subscriber ? 1 : 0;
}

#define PLAIN(name) int name(void); int name(void) { return call(#name, 0, NULL); }
#define FIRST(name) int name(void); int name(void) { return call(#name, 1, NULL); }
#define OURS(name) int name(const void *who); \
	int name(const void *who) { return call(#name, 2, who); }

int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return fails("cuptiGetVersion");
}

int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text)
{
	*text = result ? "FAILED" : "SUCCESS";
	return result > 999;
}

int cuptiSubscribe(void **who, void *callback, void *user);
int cuptiSubscribe(void **who, void *callback, void *user)
{
	int result = call("cuptiSubscribe", 1, NULL);

	(void)callback, (void)user;
	*who = &subscriber;
	if (!result)
		family = 1;
	return result;
}

int cuptiUnsubscribe(const void *who);
int cuptiUnsubscribe(const void *who)
{
	family = 0;
	return call("cuptiUnsubscribe", 0, NULL) || who != &subscriber;
}

int cuptiEnableCallback(uint32_t on, const void *who, uint32_t domain, uint32_t id);
int cuptiEnableCallback(uint32_t on, const void *who, uint32_t domain, uint32_t id)
{
	(void)on, (void)domain, (void)id;
	return call("cuptiEnableCallback", 0, NULL) || who != &subscriber;
}

int cuptiEnableDomain(uint32_t on, const void *who, uint32_t domain);
int cuptiEnableDomain(uint32_t on, const void *who, uint32_t domain)
{
	(void)on, (void)domain;
	return call("cuptiEnableDomain", 0, NULL) || who != &subscriber;
}

FIRST(cuptiActivityRegisterCallbacks)
FIRST(cuptiActivityEnable)
FIRST(cuptiActivityDisable)
FIRST(cuptiActivityGetNextRecord)
FIRST(cuptiActivityGetNumDroppedRecords)
FIRST(cuptiGetTimestamp)
PLAIN(cuptiActivityFlushAll)
PLAIN(cuptiGetContextId)
PLAIN(cuptiGetDeviceId)
#ifndef LACKS_STREAM_ID
PLAIN(cuptiGetStreamIdEx)
#endif
PLAIN(cuptiGetGraphNodeId)

#ifdef SECOND
struct params {
	size_t size;
	const char *name;
	char *old;
	size_t old_size;
	uint8_t allow;
};

int cuptiSubscribe_v2(void **who, void *callback, void *user, struct params *params);
int cuptiSubscribe_v2(void **who, void *callback, void *user, struct params *params)
{
	const char *other = getenv("FAKE_OTHER");
	int result = call("cuptiSubscribe_v2", 2, &subscriber);

	(void)callback, (void)user;
	printf("params %zu %s %d\n", params->size, params->name,
	       params->size > 32 ? params->allow : -1);
	if (params->size != (VERSION >= 130200 ? 40 : 32))
		return 1;
	*who = &subscriber;
	if (result == 39 && other)
		snprintf(params->old, params->old_size, "%s", other);
	if (!result)
		family = 2;
	return result;
}

#if SECOND > 1
int cuptiActivityRegisterCallbacks_v2(const void *who, void *request,
				      void (*complete)(void *, size_t, size_t, void *));
int cuptiActivityRegisterCallbacks_v2(const void *who, void *request,
				      void (*complete)(void *, size_t, size_t, void *))
{
	static uint32_t buffer[2] = { 77 };

	(void)request;
	complete(buffer, 8, 4, NULL);
	return call("cuptiActivityRegisterCallbacks_v2", 2, who);
}

int cuptiGetTimestamp_v2(const void *who, uint64_t *ns);
int cuptiGetTimestamp_v2(const void *who, uint64_t *ns)
{
	*ns = getenv("FAKE_NO_TIME") ? 0 : 5;
	return call("cuptiGetTimestamp_v2", 2, who);
}

int cuptiActivitySetAttribute_v2(const void *who, uint32_t attribute, size_t *size, void *value);
int cuptiActivitySetAttribute_v2(const void *who, uint32_t attribute, size_t *size, void *value)
{
	printf("attribute %u size %zu value %u\n", attribute, *size, *(uint8_t *)value);
	return call("cuptiActivitySetAttribute_v2", 2, who);
}

OURS(cuptiActivityEnable_v2)
OURS(cuptiActivityDisable_v2)
OURS(cuptiActivityGetNextRecord_v2)
OURS(cuptiActivityGetNumDroppedRecords_v2)
OURS(cuptiActivityEnableDriverApi_v2)
#endif
#endif

#ifdef GLOBAL_STATE
PLAIN(cuptiGetGlobalCallbackState)
#endif
