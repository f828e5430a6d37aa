/* A stand-in for libcuda and libnvrtc on the host, with the prototypes of cuda.h and nvrtc.h: device memory is
   host memory, an image is a text, and two kernels exist, "add" and "fault". It writes what it is told into
   places that the tests look at. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult, CUdevice, nvrtcResult;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext, *CUstream, *CUevent, *CUmodule, *CUfunction;

static int sticky, bound;
static double now;
static char module[1 << 20];
static int max_dynamic;

#define ENTER if (sticky) return sticky; if (!bound) return 201

/* Two GPUs, less those that CUDA_VISIBLE_DEVICES hides when it starts. */
static int visible[2] = {0, 1}, count = 2;

CUresult cuInit(unsigned flags) {
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  if (list) {
    char *end;
    for (count = 0; count < 2; list = end + 1) {
      long n = strtol(list, &end, 10);
      if (end == list || n < 0 || n > 1) break;
      visible[count++] = n;
      if (*end != ',') break;
    }
  }
  return flags ? 1 : count ? 0 : 100;
}
CUresult cuDriverGetVersion(int *v) { *v = 13010; return 0; }
CUresult cuGetErrorName(CUresult e, const char **s) {
  switch (e) {
  case 2: *s = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
  case 700: *s = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
  }
  *s = NULL;
  return 1;
}
CUresult cuGetErrorString(CUresult e, const char **s) { *s = e == 2 ? "out of memory" : NULL; return *s ? 0 : 1; }

CUresult cuDeviceGetCount(int *n) { *n = count; return 0; }
CUresult cuDeviceGet(CUdevice *d, int ordinal) { if (ordinal < 0 || ordinal >= count) return 101; *d = 40 + visible[ordinal]; return 0; }
CUresult cuDeviceGetName(char *s, int n, CUdevice d) { snprintf(s, n, "Host %d", d); return 0; }
CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice d) { (void)d; *n = 5ull << 30; return 0; }
static int apart; /* the host may not touch managed memory while kernels run */
CUresult cuDeviceGetAttribute(int *v, int a, CUdevice d) {
  if (d != 41) return 101;
  if (a == 89) return *v = !apart, 0;
  *v = a == 75 ? 9 : a == 76 ? 0 : a == 10 ? 32 : a == 97 ? 232448 : 1000 + a;
  return 0;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) { *c = (void *)(intptr_t)(1000 + d); return 0; }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) { return d == 41 ? 0 : 101; }
CUresult cuCtxSetCurrent(CUcontext c) { bound = c == (void *)(intptr_t)1041; return 0; }
CUresult cuCtxSynchronize(void) { ENTER; return 0; }

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) { ENTER; if (n > 1 << 20) return 2; *p = (uintptr_t)malloc(n); return 0; }

/* The last managed memory, which only cuMemFree frees. After 77 bytes of it the device has the kind that is not shared. */
static CUdeviceptr managed;
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t n, unsigned flags) {
  ENTER;
  if (flags != 1) return 1;
  apart = n == 77;
  return cuMemAlloc_v2(&managed, n) ? 2 : (*p = managed, 0);
}
CUresult cuMemFree_v2(CUdeviceptr p) { ENTER; free((void *)(uintptr_t)p); return 0; }
CUresult cuMemGetInfo_v2(size_t *f, size_t *t) { ENTER; *f = 3; *t = 4; return 0; }
CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) { ENTER; if (flags != 3) return 1; *p = malloc(n); return 0; }
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *d, void *p, unsigned flags) { ENTER; if ((uintptr_t)p == managed) return 1; *d = (uintptr_t)p; return flags; }
CUresult cuMemFreeHost(void *p) { ENTER; if ((uintptr_t)p == managed) return 1; free(p); return 0; }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) { ENTER; if (!s) return 400; memset((void *)(uintptr_t)p, v, n); return 0; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *h, size_t n, CUstream s) { ENTER; if (!s) return 400; memcpy((void *)(uintptr_t)d, h, n); return 0; }
CUresult cuMemcpyDtoHAsync_v2(void *h, CUdeviceptr d, size_t n, CUstream s) { ENTER; if (!s) return 400; memcpy(h, (void *)(uintptr_t)d, n); return 0; }
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr a, CUdeviceptr b, size_t n, CUstream s) { ENTER; if (!s) return 400; memcpy((void *)(uintptr_t)a, (void *)(uintptr_t)b, n); return 0; }

static int queries;
CUresult cuStreamCreate(CUstream *s, unsigned flags) { ENTER; if (flags != 1) return 1; *s = malloc(1); return 0; }
CUresult cuStreamDestroy_v2(CUstream s) { ENTER; free(s); return 0; }
CUresult cuStreamSynchronize(CUstream s) { ENTER; return s ? 0 : 400; }
CUresult cuStreamQuery(CUstream s) { ENTER; return !s ? 400 : ++queries % 2 ? 600 : 0; }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) { ENTER; return s && e && !flags ? 0 : 400; }
CUresult cuEventCreate(CUevent *e, unsigned flags) { ENTER; *e = calloc(1, sizeof(double)); return flags; }
CUresult cuEventDestroy_v2(CUevent e) { ENTER; free(e); return 0; }
CUresult cuEventRecord(CUevent e, CUstream s) { ENTER; if (!s) return 400; *(double *)e = now += 1.5; return 0; }
CUresult cuEventSynchronize(CUevent e) { ENTER; return e ? 0 : 400; }
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) { ENTER; *ms = *(double *)b - *(double *)a; return 0; }

CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, int *options, void **values) {
  ENTER;
  if (strncmp(image, "image\n", 6)) {
    for (unsigned i = 0; i + 1 < n; i++)
      if (options[i] == 5 && options[i + 1] == 6) snprintf(values[i], (size_t)values[i + 1], "no image at all");
    return 200;
  }
  strncpy(module, image, sizeof module - 1);
  *m = module;
  return 0;
}
CUresult cuModuleUnload(CUmodule m) { ENTER; return m == module ? 0 : 400; }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
  ENTER;
  if (m != module) return 400;
  if (strcmp(name, "add") && strcmp(name, "fault")) return 500;
  *f = strdup(name);
  return 0;
}
CUresult cuFuncGetAttribute(int *v, int a, CUfunction f) { ENTER; *v = a == 0 ? 1024 : a == 1 ? 16 : a == 3 ? 8 : a == 4 ? 40 : -1; return f ? 0 : 400; }
CUresult cuFuncSetAttribute(CUfunction f, int a, int v) { ENTER; if (a == 8) max_dynamic = v; return f ? 0 : 400; }
CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size) { ENTER; *offset = 0; *size = 16; return f && i == 0 ? 0 : 1; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t shared) { ENTER; *n = 2048 / threads - (int)(shared / 65536); return f ? 0 : 400; }
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream s, void **params, void **extra) {
  ENTER;
  if (gy != 1 || gz != 1 || by != 1 || bz != 1 || extra || !s || (int)shared > max_dynamic) return 1;
  if (!strcmp(f, "fault")) { sticky = 700; return 0; }
  struct { uint64_t data; uint32_t n, x; } p;
  memcpy(&p, params[0], sizeof p);
  uint32_t *data = (uint32_t *)(uintptr_t)p.data;
  for (uint32_t i = 0; i < gx * bx && i < p.n; i++) data[i] += p.x;
  return 0;
}

/* NVRTC: the image is a list of all that it was made of. */
typedef struct { char *out, *log; } *nvrtcProgram;
const char *nvrtcGetErrorString(nvrtcResult r) { return r == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER"; }
nvrtcResult nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 8; return 0; }
nvrtcResult nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
nvrtcResult nvrtcGetSupportedArchs(int *a) { a[0] = 90; a[1] = 75; a[2] = 80; return 0; }
nvrtcResult nvrtcCreateProgram(nvrtcProgram *p, const char *text, const char *name, int n, const char *const *headers, const char *const *names) {
  *p = malloc(sizeof **p);
  (*p)->log = calloc(1, 1000);
  (*p)->out = calloc(1, 100000);
  char *o = (*p)->out + sprintf((*p)->out, "image\n%s: %s\n", name, text);
  for (int i = 0; i < n; i++) o += sprintf(o, "%s: %s\n", names[i], headers[i]);
  if (strstr(text, "#error")) sprintf((*p)->log, "%s(3): error: #error", name);
  return 0;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *p) { free((*p)->out); free((*p)->log); free(*p); *p = NULL; return 0; }
nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n, const char *const *options) {
  for (int i = 0; i < n; i++) { strcat(p->out, options[i]); strcat(p->out, "\n"); }
  return p->log[0] ? 6 : 0;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *n) { *n = strlen(p->log) + 1; return 0; }
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *s) { strcpy(s, p->log); return 0; }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *n) { *n = strlen(p->out) + 1; return 0; }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *s) { strcpy(s, p->out); return 0; }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *n) { *n = strlen(p->out) + 1; return 0; }
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *s) { strcpy(s, p->out); return 0; }
