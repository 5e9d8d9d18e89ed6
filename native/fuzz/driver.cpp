// A plain mutation driver for machines without libFuzzer: mutates the seeds for a number of
// seconds. Deterministic for a given seed number; keeps the text of a crash in crash-input.
//
//   driver SECONDS SEED FILE...
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

const char* const kPieces[] = {
    "\"", "\\", "\\\"", "{", "}", "[", "]", ",", ":", "\n", "\0", "{\"ph\": \"X\"", "\"ts\": ",
    "\"dur\": ", "1e999", "-1", "NaN", "-inf", "18446744073709551616", "0.0005", "\"args\": {",
    "]}", "\\u12", "\\ud800", "\xff\xfe", "\xef\xbb\xbf", "null", "\"name\": \"foo \"bar\" baz\",",
    "\"traceEvents\": [", "},\n  {", "9999999999999999", "\"pid\": \"", "[[[[[[[[", "}}}}}}"};

std::string read(const char* path) {
  std::string out;
  if (FILE* f = std::fopen(path, "rb")) {
    char block[65536];
    size_t n;
    while ((n = std::fread(block, 1, sizeof block, f)) != 0) out.append(block, n);
    std::fclose(f);
  }
  return out;
}

void mutate(std::string* text, std::mt19937_64* random) {
  const auto below = [random](size_t n) { return n == 0 ? size_t{0} : (*random)() % n; };
  for (size_t k = 1 + below(6); k != 0; --k) {
    const size_t at = below(text->size() + 1);
    switch (below(7)) {
      case 0:
        text->insert(at, kPieces[below(sizeof kPieces / sizeof *kPieces)]);
        break;
      case 1:
        text->erase(at, 1 + below(8));
        break;
      case 2:
        text->erase(at, below(text->size() / 2 + 1));
        break;
      case 3:
        if (at < text->size()) (*text)[at] = static_cast<char>((*random)());
        break;
      case 4:
        text->insert(at, text->substr(below(text->size() + 1), below(400)));
        break;
      case 5:
        if (at < text->size()) (*text)[at] = "\"\\{}[],: \n0e.-"[below(14)];
        break;
      default:
        text->insert(at, below(600), "[{\" 9a\n"[below(7)]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SECONDS SEED FILE...\n", argv[0]);
    return 2;
  }
  std::mt19937_64 random(std::strtoull(argv[2], nullptr, 10));
  std::vector<std::string> seeds;
  for (int i = 3; i < argc; ++i) seeds.push_back(read(argv[i]));
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  uint64_t runs = 0;
  while (Clock::now() < until) {
    std::string text = seeds[random() % seeds.size()];
    mutate(&text, &random);
    if (text.size() > 1 << 16) text.resize(1 << 16);
    if (FILE* f = std::fopen("crash-input", "wb")) {  // stays only when the run dies
      std::fwrite(text.data(), 1, text.size(), f);
      std::fclose(f);
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    ++runs;
  }
  std::remove("crash-input");
  std::printf("%llu mutated texts, nothing broken\n", static_cast<unsigned long long>(runs));
  return 0;
}
