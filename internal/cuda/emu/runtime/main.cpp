// The run-time system as a program (subprocess.go). Requests come on standard input, and answers go to
// standard output. The program ends with its input.
#include "api.cpp"

namespace {

struct Request { u32 op, padding; u64 in_bytes, out_bytes, args[8]; };
struct Answer { u32 status, padding; u64 text_bytes, out_bytes, args[8]; };

bool read_all(void* to, u64 bytes) {
  for (u8* p = (u8*)to; bytes;) {
    ssize_t n = read(0, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, bytes -= (u64)n;
  }
  return true;
}

bool write_all(int file, const void* from, u64 bytes) {
  for (const u8* p = (const u8*)from; bytes;) {
    ssize_t n = write(file, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, bytes -= (u64)n;
  }
  return true;
}

}  // namespace

int main() {
  // Standard output has the answers alone.
  int answers = dup(1);
  dup2(2, 1);
  signal(SIGPIPE, SIG_IGN);
  void* device = nullptr;
  Request q;
  static char text[ERROR_BYTES];
  while (read_all(&q, sizeof q)) {
    std::vector<u8> in(q.in_bytes), out(q.out_bytes);
    if (!read_all(in.data(), in.size())) return 1;
    int status = emu_call(&device, q.op, q.args, in.data(), in.size(), out.data(), out.size(), text);
    Answer a = {(u32)status, 0, strlen(text), status == STATUS_OK ? out.size() : 0, {}};
    memcpy(a.args, q.args, sizeof a.args);
    if (!write_all(answers, &a, sizeof a) || !write_all(answers, text, a.text_bytes) || !write_all(answers, out.data(), a.out_bytes)) return 1;
  }
  _exit(0);
}
