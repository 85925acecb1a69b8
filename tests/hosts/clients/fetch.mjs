// SPDX-License-Identifier: MIT
// Node's fetch.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'

const [url, folder] = process.argv.slice(2)
const kept = (ending) => readFileSync(`${folder}/plain${ending}`)
const digest = async (answer) =>
  createHash('sha256').update(Buffer.from(await answer.arrayBuffer())).digest('hex')
const post = (coding, body) =>
  fetch(`${url}/tell.cgi`, { method: 'POST', body, headers: { 'Content-Encoding': coding } })

const bodies = {
  gzip: zlib.gzipSync(kept('')),
  br: zlib.brotliCompressSync(kept('')),
  deflate: zlib.deflateSync(kept('')),
  zstd: zlib.zstdCompressSync ? zlib.zstdCompressSync(kept('')) : kept('.zst')
}
for (const [coding, body] of Object.entries(bodies)) {
  const answer = await post(coding, body)
  console.log('send', coding, answer.status, (await answer.text()).trim())
}
console.log('refused bad', (await post('gzip', kept(''))).status)
console.log('refused unknown', (await post('compress', kept(''))).status)
console.log('refused long', (await post('gzip', kept('.long'))).status)
const page = await fetch(`${url}/page.html`)
console.log('receive default', page.headers.get('content-encoding'), await digest(page))
for (const coding of ['gzip', 'br', 'deflate']) {
  const answer = await fetch(`${url}/page.html`, { headers: { 'Accept-Encoding': coding } })
  console.log('receive', coding, answer.headers.get('content-encoding'), await digest(answer))
}
for (const name of ['gzip', 'br', 'zstd', 'deflate']) {
  console.log('origin', name, await digest(await fetch(`${url}/origin/${name}`)))
}
