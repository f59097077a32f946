#include "base/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace karst::base {

std::optional<WallTime> certificate_end(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      bytes ? PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr) : nullptr, &X509_free);
  std::tm end{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1)
    return std::nullopt;
  return WallTime(static_cast<std::int64_t>(timegm(&end)) * kMillisPerSecond);
}

}  // namespace karst::base
