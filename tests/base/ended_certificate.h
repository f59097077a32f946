// A client certificate that has expired.
#pragma once

namespace karst::base::testing {

// openssl x509 -req -days -1: until 2026-11-24T19:00:18Z.
inline constexpr const char* kEndedCertificate = R"(-----BEGIN CERTIFICATE-----
MIIBGzCBwQIUBmmSwwHWCBGrb9WDeQgMVaZBoMIwCgYIKoZIzj0EAwIwEDEOMAwG
A1UEAwwFa2Fyc3QwHhcNMjYxMTI1MTkwMDE4WhcNMjYxMTI0MTkwMDE4WjAQMQ4w
DAYDVQQDDAVrYXJzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCsRohCW7ngl
WpoAO6L5aE8Q/qSzzNkI+/lQTktON1D83glnUs8/3P3wRsyy2BM8BcjZcv/DmekK
8oxcgu7va4gwCgYIKoZIzj0EAwIDSQAwRgIhAIbq7KSUp3hFSKNC9g93rYJCA4U4
2lHv9XmHGfMXnQ1zAiEAvA8LGfYcOY27b0P53JgJL4eO5PH98gKAdHeT9n7J5Xk=
-----END CERTIFICATE-----
)";

}  // namespace karst::base::testing
