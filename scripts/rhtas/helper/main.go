// A helper as the published k6 script has one: a fresh key with its signatures for each request, over one artifact for as long as it
// runs, and timestamps of the authority at TSA_URL. It listens at LISTEN; IDENTITY is the e-mail address of the token.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"time"
)

var (
	tsa      = os.Getenv("TSA_URL") + "/api/v1/timestamp"
	identity = sha256.Sum256([]byte(os.Getenv("IDENTITY")))
	artifact = make([]byte, sha256.Size)
	client   = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
)

func payloads(w http.ResponseWriter, _ *http.Request) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	proof, err := ecdsa.SignASN1(rand.Reader, key, identity[:])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	signature, err := ecdsa.SignASN1(rand.Reader, key, artifact)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"publicKey": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		"proof":     proof,
		"signature": signature,
		"hash":      hex.EncodeToString(artifact),
	})
}

func timestamp(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Signature []byte }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	hash := sha256.Sum256(asked.Signature)
	nonce, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(map[string]any{
		"artifactHash": hash[:], "certificates": true, "hashAlgorithm": "sha256", "nonce": nonce,
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer, err := client.Post(tsa, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		http.Error(w, answer.Status, http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/timestamp-reply")
	io.Copy(w, answer.Body)
}

func main() {
	if _, err := rand.Read(artifact); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/generate-payloads", payloads)
	http.HandleFunc("/get-timestamp", timestamp)
	log.Fatal(http.ListenAndServe(os.Getenv("LISTEN"), nil))
}
