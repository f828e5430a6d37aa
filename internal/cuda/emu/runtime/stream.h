// A device has memory, modules, streams with their work, and events.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <thread>

#include "run.h"

// Event happens when a stream reaches it.
struct Event {
  u64 recorded = 0, happened = 0;  // how often
  u64 time = 0;                    // of the last time, in ns
};

struct Stream {
  std::deque<std::function<void()>> work;
  bool busy = false, closed = false;
  std::thread thread;
};

struct Kernel {
  std::string name;
  void (*run)(const void*);
  const u32* info;  // bytes of the argument; launch bounds: threads, blocks
};

class Device {
 public:
  Config config;
  Memory memory;

  // error returns the failure that made the device useless, or "".
  std::string error() {
    std::lock_guard<std::mutex> hold(mutex);
    return failure;
  }

  u64 new_stream() {
    std::lock_guard<std::mutex> hold(mutex);
    u64 id = ++last;
    Stream* s = new Stream();
    streams[id] = s;
    // A thread takes the signals that its maker blocks.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    s->thread = std::thread([this, s] { serve(s); });
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    return id;
  }

  // close_stream lets the stream finish its work. Its thread is joined when the device closes.
  bool close_stream(u64 id) {
    std::lock_guard<std::mutex> hold(mutex);
    auto at = streams.find(id);
    if (at == streams.end()) return false;
    at->second->closed = true;
    changed.notify_all();
    gone.push_back(at->second);
    streams.erase(at);
    return true;
  }

  bool push(u64 stream, std::function<void()> f) {
    std::lock_guard<std::mutex> hold(mutex);
    auto at = streams.find(stream);
    if (at == streams.end()) return false;
    at->second->work.push_back(std::move(f));
    changed.notify_all();
    return true;
  }

  // wait blocks until a stream has no work left. done returns at once, and reports whether it has none.
  void wait(u64 stream) {
    std::unique_lock<std::mutex> hold(mutex);
    auto at = streams.find(stream);
    if (at == streams.end()) return;
    Stream* s = at->second;
    changed.wait(hold, [&] { return s->work.empty() && !s->busy; });
  }
  bool done(u64 stream) {
    std::lock_guard<std::mutex> hold(mutex);
    auto at = streams.find(stream);
    return at == streams.end() || (at->second->work.empty() && !at->second->busy);
  }
  void wait_all() {
    std::unique_lock<std::mutex> hold(mutex);
    changed.wait(hold, [&] {
      auto idle = [](Stream* s) { return s->work.empty() && !s->busy; };
      for (auto& [id, s] : streams) if (!idle(s)) return false;
      for (Stream* s : gone) if (!idle(s)) return false;
      return true;
    });
  }

  u64 new_event() {
    std::lock_guard<std::mutex> hold(mutex);
    events[++last] = std::make_shared<Event>();
    return last;
  }
  void close_event(u64 id) {
    std::lock_guard<std::mutex> hold(mutex);
    events.erase(id);
  }
  bool record(u64 id, u64 stream) {
    std::shared_ptr<Event> e = event(id);
    if (!e) return false;
    u64 turn;
    {
      std::lock_guard<std::mutex> hold(mutex);
      turn = ++e->recorded;
    }
    return push(stream, [this, e, turn] {
      std::lock_guard<std::mutex> hold(mutex);
      e->happened = turn;
      e->time = called_by_lanes::nanotime();
      changed.notify_all();
    });
  }
  void wait_event(u64 id) {
    std::shared_ptr<Event> e = event(id);
    if (!e) return;
    std::unique_lock<std::mutex> hold(mutex);
    u64 turn = e->recorded;
    changed.wait(hold, [&] { return e->happened >= turn; });
  }
  // follow makes later work of the stream wait for the work before the event's last record.
  bool follow(u64 stream, u64 id) {
    std::shared_ptr<Event> e = event(id);
    if (!e) return false;
    std::unique_lock<std::mutex> hold(mutex);
    u64 turn = e->recorded;
    hold.unlock();
    return push(stream, [this, e, turn] {
      std::unique_lock<std::mutex> hold(mutex);
      changed.wait(hold, [&] { return e->happened >= turn; });
    });
  }
  // elapsed computes the time between two events, in ns. false: one of them has not happened.
  bool elapsed(u64 from, u64 to, i64* ns) {
    std::shared_ptr<Event> a = event(from), b = event(to);
    std::lock_guard<std::mutex> hold(mutex);
    if (!a || !b || !a->happened || !b->happened || a->happened < a->recorded || b->happened < b->recorded) return false;
    *ns = (i64)b->time - (i64)a->time;
    return true;
  }

  bool launch(const Kernel* k, u32 blocks, u32 threads, u32 shared, u64 stream, const void* params, u64 bytes) {
    auto l = std::make_shared<Launch>();
    l->config = &config;
    l->name = k->name.c_str();
    l->run = k->run;
    l->params.assign((const u8*)params, (const u8*)params + bytes);
    l->blocks = blocks, l->threads = threads, l->shared = shared;
    l->memory = &memory;
    l->serial = ++launches;
    return push(stream, [this, l] {
      if (!error().empty()) return;
      std::string e = run_launch(l.get());
      if (e.empty()) e = memory.inspect();
      if (!e.empty()) lose(l->name + (": " + e));
    });
  }

  ~Device() {
    std::vector<Stream*> all = gone;
    {
      std::lock_guard<std::mutex> hold(mutex);
      for (auto& [id, s] : streams) {
        s->closed = true;
        all.push_back(s);
      }
      changed.notify_all();
    }
    for (Stream* s : all) {
      s->thread.join();
      delete s;
    }
  }

 private:
  std::mutex mutex;
  std::condition_variable changed;
  std::string failure;
  u64 last = 0, launches = 0;
  std::map<u64, Stream*> streams;
  std::vector<Stream*> gone;
  std::map<u64, std::shared_ptr<Event>> events;

  std::shared_ptr<Event> event(u64 id) {
    std::lock_guard<std::mutex> hold(mutex);
    auto at = events.find(id);
    return at == events.end() ? nullptr : at->second;
  }

  void lose(const std::string& what) {
    std::lock_guard<std::mutex> hold(mutex);
    if (failure.empty()) failure = what;
  }

  void serve(Stream* s) {
    std::unique_lock<std::mutex> hold(mutex);
    for (;;) {
      changed.wait(hold, [&] { return !s->work.empty() || s->closed; });
      if (s->work.empty()) return;
      auto f = std::move(s->work.front());
      s->work.pop_front();
      s->busy = true;
      hold.unlock();
      f();
      f = nullptr;
      hold.lock();
      s->busy = false;
      changed.notify_all();
    }
  }
};
