// SPDX-License-Identifier: MIT

// Go's net/http.
package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

var client = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func kept(ending string) []byte {
	return must(os.ReadFile(os.Args[2] + "/plain" + ending))
}

func packed(open func(io.Writer) io.WriteCloser) []byte {
	var buffer bytes.Buffer
	w := open(&buffer)
	must(w.Write(kept("")))
	w.Close()
	return buffer.Bytes()
}

func post(coding string, body []byte) (int, string) {
	request := must(http.NewRequest("POST", os.Args[1]+"/tell.cgi", bytes.NewReader(body)))
	request.Header.Set("Content-Encoding", coding)
	answer := must(client.Do(request))
	defer answer.Body.Close()
	return answer.StatusCode, strings.TrimSpace(string(must(io.ReadAll(answer.Body))))
}

func get(path, coding string) (*http.Response, []byte) {
	request := must(http.NewRequest("GET", os.Args[1]+path, nil))
	if coding != "" {
		request.Header.Set("Accept-Encoding", coding)
	}
	answer := must(client.Do(request))
	defer answer.Body.Close()
	return answer, must(io.ReadAll(answer.Body))
}

func main() {
	for _, one := range []struct {
		coding string
		body   []byte
	}{
		{"gzip", packed(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		{"deflate", packed(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })},
		{"br", kept(".br")}, {"zstd", kept(".zst")}} {
		status, text := post(one.coding, one.body)
		fmt.Println("send", one.coding, status, text)
	}
	for _, one := range [][3]string{{"bad", "gzip", ""}, {"unknown", "compress", ""}, {"long", "gzip", ".long"}} {
		status, _ := post(one[1], kept(one[2]))
		fmt.Println("refused", one[0], status)
	}
	answer, body := get("/page.html", "")
	coding := "identity"
	if answer.Uncompressed {
		coding = "hidden"
	}
	fmt.Printf("receive default %s %x\n", coding, sha256.Sum256(body))
	answer, body = get("/page.html", "gzip")
	body = must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(body)))))
	fmt.Printf("receive gzip %s %x\n", answer.Header.Get("Content-Encoding"), sha256.Sum256(body))
	for _, name := range []string{"gzip", "br", "zstd", "deflate"} {
		_, body = get("/origin/"+name, "")
		fmt.Printf("origin %s %x\n", name, sha256.Sum256(body))
	}
}
