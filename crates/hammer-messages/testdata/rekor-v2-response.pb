"
 ÆˆMıCoq3Uºb]∫bf∆Tñe…ﬂ>`x{sJ∫`
hashedrekord0.0.22œ 7ÊˇπÑﬂàŸ”{ñ&,Àk°¢Ø:H¿èöC—¿ *®
•127.0.0.1
1
N+YD/7kdhN+I2dN7liYsy39roaKvOkjAj3+aQxzRwCA=

‚Äî 127.0.0.1 rvZNHjbUT32Ga1/SaJssK5haGF0Xfs8IUZ6eAAqCtasZem4jEoeQyRtkEm0nAsBP9Jb6aX/1noRyo/jUeF76wg2mmwA=
:È{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{"hashedRekordV002":{"data":{"algorithm":"SHA2_256","digest":"0WqVXuG/CZkY/BCJfeWt4dtKBXhrrUjzvtLTTKhhhBk="},"signature":{"content":"MEQCID5Ms/wyn5vnxxah+jFZWat0FzJLMd+w58NHiCJj5FNUAiBKU7Zvk3At/In4ZJ3vCN/A71OS0TL3KAmdggPX3H+b0g==","verifier":{"keyDetails":"PKIX_ECDSA_P256_SHA_256","publicKey":{"rawBytes":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECLp6pSF8+VFHzOS0alX94WsF7YlfQck5CRn6rFYMqsL9kPGtTv40N741ZV8SIfGfzDkclWMbaE1aRBEOH4aYMA=="}}}}}}