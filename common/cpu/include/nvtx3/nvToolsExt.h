/* NVTX marks ranges of time for a profiler. No profiler exists here, and the calls return what
 * they return without one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define CPU_NVTX(R, name, parameters, body)                                                        \
    static inline R name parameters                                                                \
    {                                                                                              \
        body;                                                                                      \
    }
CPU_NVTX(void, nvtxInitialize, (const void *reserved), (void)0)
CPU_NVTX(void, nvtxMarkA, (const char *message), (void)0)
CPU_NVTX(void, nvtxMarkEx, (const nvtxEventAttributes_t *event), (void)0)
CPU_NVTX(int, nvtxRangePushA, (const char *message), return NVTX_NO_PUSH_POP_TRACKING)
CPU_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *event),
         return NVTX_NO_PUSH_POP_TRACKING)
CPU_NVTX(int, nvtxRangePop, (void), return NVTX_NO_PUSH_POP_TRACKING)
CPU_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *message), return 0)
CPU_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *event), return 0)
CPU_NVTX(void, nvtxRangeEnd, (nvtxRangeId_t id), (void)0)
CPU_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), return NULL)
CPU_NVTX(void, nvtxDomainDestroy, (nvtxDomainHandle_t domain), (void)0)
CPU_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA,
         (nvtxDomainHandle_t domain, const char *text), return NULL)
CPU_NVTX(void, nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event),
         (void)0)
CPU_NVTX(int, nvtxDomainRangePushEx,
         (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event),
         return NVTX_NO_PUSH_POP_TRACKING)
CPU_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), return NVTX_NO_PUSH_POP_TRACKING)
CPU_NVTX(void, nvtxNameCategoryA, (uint32_t category, const char *name), (void)0)
CPU_NVTX(void, nvtxNameOsThreadA, (uint32_t thread, const char *name), (void)0)
#undef CPU_NVTX

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
