// Runs the official JavaScript driver as its build for browsers, over a WebSocket of Node.
// Arguments: the address, and the origin that the page would have.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const [address, origin] = process.argv.slice(2)
const Socket = globalThis.WebSocket
globalThis.WebSocket = class extends Socket {
  constructor (url) { super(url, { headers: { Origin: origin } }) }
}
globalThis.window = globalThis
globalThis.self = globalThis
globalThis.location ??= { protocol: 'http:' }
const neo4j = createRequire(import.meta.url)('neo4j-driver/lib/browser/neo4j-web.js')

const driver = neo4j.driver(`bolt://${address}`)
const session = driver.session({ database: 'karate' })
const r = await session.run('MATCH (a)--(b) RETURN a, b')
assert.equal(r.records.length, 156)
assert.ok(neo4j.isNode(r.records[0].get('a')))
await assert.rejects(session.run('MATCH (a)--(b) RETRN a'), e => e.code === 'Neo.ClientError.Statement.SyntaxError')
await session.close()
await driver.close()
console.log('1 passed')
