// emu_call is the only entry of the run-time system. So the same calls drive a device in this process
// and one at the other end of a pipe.
#include "stream.h"

enum Op : u32 {
  OP_OPEN, OP_CLOSE, OP_ALLOC, OP_FREE, OP_MEMORY, OP_PIN, OP_UNPIN, OP_FILL, OP_COPY_IN, OP_COPY_OUT, OP_TAKE, OP_COPY,
  OP_NEW_STREAM, OP_CLOSE_STREAM, OP_WAIT, OP_DONE, OP_SYNCHRONIZE, OP_NEW_EVENT, OP_CLOSE_EVENT, OP_RECORD,
  OP_WAIT_EVENT, OP_FOLLOW, OP_ELAPSED, OP_LOAD, OP_UNLOAD, OP_FUNCTION, OP_OCCUPANCY, OP_LAUNCH,
};

enum Status { STATUS_OK, STATUS_ERROR, STATUS_MEMORY, STATUS_LOST };

enum { ERROR_BYTES = 8192 };

namespace {

struct Opened {
  Device device;
  std::map<u64, void*> modules;
  std::map<u64, Kernel> kernels;
  std::map<u64, std::shared_ptr<std::vector<u8>>> tickets;  // of copies to the host
  u64 last = 0;
};

Status error(std::string* text, const std::string& what) {
  *text = what;
  return STATUS_ERROR;
}

// pin maps the file at path, which the host has mapped as well. An empty path means that the host is this
// process: then the device uses the host's address.
Status pin(Opened* o, u64* args, const std::string& path, std::string* text) {
  if (path.empty()) {
    o->device.memory.note(args[0], args[1]);
    return STATUS_OK;
  }
  FILE* f = fopen(path.c_str(), "r+");
  if (!f) return error(text, "cannot open " + path + ": " + strerror(errno));
  void* p = mmap(nullptr, args[1], PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
  fclose(f);
  if (p == MAP_FAILED) return error(text, format("cannot map %llu bytes of pinned memory: %s", args[1], strerror(errno)));
  args[0] = (u64)p;
  o->device.memory.note(args[0], args[1]);
  return STATUS_OK;
}

Status load(Opened* o, u64* args, const std::string& path, std::string* text) {
  void* m = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!m) return error(text, dlerror());
  args[0] = ++o->last;
  o->modules[args[0]] = m;
  return STATUS_OK;
}

Status function(Opened* o, u64* args, const std::string& name, std::string* text) {
  auto m = o->modules.find(args[0]);
  if (m == o->modules.end()) return error(text, "no such module");
  Kernel k;
  k.name = name;
  k.run = (void (*)(const void*))dlsym(m->second, ("weft_run_" + name).c_str());
  k.info = (const u32*)dlsym(m->second, ("weft_info_" + name).c_str());
  if (!k.run || !k.info) return error(text, "the module has no kernel " + name);
  args[0] = ++o->last;
  args[1] = k.info[0], args[2] = k.info[1], args[3] = k.info[2];
  o->kernels[args[0]] = k;
  return STATUS_OK;
}

Status call(Opened* o, u32 op, u64* a, const std::string& in, u8* out, u64 out_bytes, std::string* text) {
  Device& d = o->device;
  bool found = true;
  switch (op) {
    case OP_ALLOC:
      a[0] = (u64)d.memory.take(a[0]);
      if (!a[0]) return STATUS_MEMORY;
      break;
    case OP_FREE: {
      d.wait_all();
      std::string e = d.memory.give(a[0]);
      if (!e.empty()) return error(text, e);
      break;
    }
    case OP_MEMORY: a[0] = d.memory.available(), a[1] = d.memory.limit; break;
    case OP_PIN: return pin(o, a, in, text);
    case OP_UNPIN:
      d.wait_all();
      d.memory.forget(a[0]);
      if (a[1]) munmap((void*)a[0], a[1]);
      break;
    case OP_FILL: found = d.push(a[3], [to = a[0], value = a[1], n = a[2]] { memset((void*)to, (int)value, n); }); break;
    case OP_COPY_IN: found = d.push(a[1], [to = a[0], in] { memcpy((void*)to, in.data(), in.size()); }); break;
    case OP_COPY_OUT: {
      auto bytes = std::make_shared<std::vector<u8>>();
      found = d.push(a[2], [from = a[0], n = a[1], bytes] { bytes->assign((u8*)from, (u8*)from + n); });
      a[0] = ++o->last;
      o->tickets[a[0]] = bytes;
      break;
    }
    case OP_TAKE: {
      auto ticket = o->tickets.find(a[0]);
      if (ticket == o->tickets.end() || ticket->second->size() != out_bytes) return error(text, "no such copy");
      memcpy(out, ticket->second->data(), out_bytes);
      o->tickets.erase(ticket);
      break;
    }
    case OP_COPY: found = d.push(a[3], [to = a[0], from = a[1], n = a[2]] { memmove((void*)to, (void*)from, n); }); break;
    case OP_NEW_STREAM: a[0] = d.new_stream(); break;
    case OP_CLOSE_STREAM: found = d.close_stream(a[0]); break;
    case OP_WAIT: d.wait(a[0]); break;
    case OP_DONE: a[0] = d.done(a[0]); break;
    case OP_SYNCHRONIZE: d.wait_all(); break;
    case OP_NEW_EVENT: a[0] = d.new_event(); break;
    case OP_CLOSE_EVENT: d.close_event(a[0]); break;
    case OP_RECORD: found = d.record(a[0], a[1]); break;
    case OP_WAIT_EVENT: d.wait_event(a[0]); break;
    case OP_FOLLOW: found = d.follow(a[0], a[1]); break;
    case OP_ELAPSED: found = d.elapsed(a[0], a[1], (i64*)a); break;
    case OP_LOAD: return load(o, a, in, text);
    case OP_UNLOAD: {
      auto m = o->modules.find(a[0]);
      if (m == o->modules.end()) return error(text, "no such module");
      d.wait_all();
      dlclose(m->second);
      o->modules.erase(m);
      break;
    }
    case OP_FUNCTION: return function(o, a, in, text);
    case OP_OCCUPANCY: a[0] = blocks_per_sm(&d.config, (u32)a[0], a[1]); break;
    case OP_LAUNCH: {
      auto k = o->kernels.find(a[0]);
      if (k == o->kernels.end()) return error(text, "no such kernel");
      if (!blocks_per_sm(&d.config, (u32)a[2], a[3])) return error(text, "a block of this size does not fit on a multiprocessor");
      found = d.launch(&k->second, (u32)a[1], (u32)a[2], (u32)a[3], a[4], in.data(), in.size());
      break;
    }
    default: return error(text, "no such operation");
  }
  return found ? STATUS_OK : error(text, "no such stream or event, or an event that has not happened");
}

}  // namespace

// emu_call does one operation on the device at *device, which OP_OPEN makes. args holds the numbers that
// go in and come out. text has room for ERROR_BYTES.
extern "C" __attribute__((visibility("default"))) int emu_call(void** device, u32 op, u64* args, const void* in, u64 in_bytes,
                                                               void* out, u64 out_bytes, char* text) {
  Opened* o = (Opened*)*device;
  text[0] = 0;
  if (op == OP_OPEN) {
    o = new Opened();
    memcpy(&o->device.config, in, sizeof(Config));
    o->device.memory.limit = o->device.config.memory;
    catch_faults();
    *device = o;
    return STATUS_OK;
  }
  if (op == OP_CLOSE) {
    delete o;
    *device = nullptr;
    return STATUS_OK;
  }
  std::string what;
  Status status = STATUS_OK;
  bool lost = !o->device.error().empty();
  if (!lost) {
    status = call(o, op, args, std::string((const char*)in, in_bytes), (u8*)out, out_bytes, &what);
    lost = !o->device.error().empty();
  }
  if (lost) status = STATUS_LOST, what = o->device.error();
  snprintf(text, ERROR_BYTES, "%s", what.c_str());
  return status;
}
