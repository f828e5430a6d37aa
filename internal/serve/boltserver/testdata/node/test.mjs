// Runs the official JavaScript driver against a server with the graphs dense, karate and social.
// Arguments: the address, a user, a password, and a file with the server's certificate ("" without encryption).
import assert from 'node:assert/strict'
import neo4j from 'neo4j-driver'

const [address, user, password, certificate] = process.argv.slice(2)
const auth = user ? neo4j.auth.basic(user, password) : undefined
const encryption = certificate ? { encrypted: 'ENCRYPTION_ON', trust: 'TRUST_CUSTOM_CA_SIGNED_CERTIFICATES', trustedCertificates: [certificate] } : {}
let tests = 0

async function test (name, run) {
  try {
    await run()
    tests++
  } catch (e) {
    console.error(`${name}: ${e.stack}`)
    process.exitCode = 1
  }
}

for (const scheme of ['bolt', 'neo4j']) {
  const driver = neo4j.driver(`${scheme}://${address}`, auth, { ...encryption, fetchSize: 10 })
  const run = async (graph, text, params) => {
    const session = driver.session({ database: graph, defaultAccessMode: neo4j.session.READ })
    try {
      return await session.run(text, params)
    } finally {
      await session.close()
    }
  }

  await test(`${scheme}: server`, async () => {
    const info = await driver.getServerInfo()
    assert.ok(info.protocolVersion.isEqualTo ? info.protocolVersion.isEqualTo({ major: 5, minor: 8 }) : info.protocolVersion >= 5.7)
    assert.match(info.agent, /weft/)
    assert.equal(await driver.supportsMultiDb(), true)
  })

  await test(`${scheme}: count`, async () => {
    const r = await run('karate', 'MATCH (a)--(b)--(c)--(a) RETURN count(DISTINCT SUBGRAPHS) AS n')
    assert.deepEqual(r.records.map(x => x.get('n').toNumber()), [45])
    assert.equal(r.summary.queryType, 'r')
    assert.equal(r.summary.database.name, 'karate')
    assert.equal(r.summary.counters.containsUpdates(), false)
  })

  await test(`${scheme}: rows in several fetches`, async () => {
    const r = await run('karate', 'MATCH (a)--(b) RETURN a, b')
    assert.equal(r.records.length, 156)
  })

  await test(`${scheme}: nodes and relationships`, async () => {
    const r = await run('social', 'MATCH (a)-[e:likes]->(b) WHERE a.age > $age RETURN a, e, b.name AS name', { age: neo4j.int(20) })
    const [x] = r.records
    assert.ok(neo4j.isNode(x.get('a')) && neo4j.isRelationship(x.get('e')))
    assert.deepEqual([x.get('a').elementId, x.get('a').labels, x.get('a').properties.name], ['ann', ['P'], 'Ann'])
    assert.deepEqual([x.get('e').type, x.get('e').startNodeElementId, x.get('e').endNodeElementId, x.get('e').properties.w], ['likes', 'ann', 'bob', 1.5])
    assert.equal(x.get('e').properties.time.toString(), '1970-01-02T00:00:00Z')
    assert.equal(x.get('name'), null)
  })

  await test(`${scheme}: read transaction`, async () => {
    const session = driver.session({ database: 'karate' })
    const n = await session.executeRead(async tx => {
      const a = await tx.run('MATCH (a)--(b) WHERE id(a) = $x RETURN b', { x: neo4j.int(1) })
      const b = await tx.run('MATCH (a)--(b) WHERE id(a) = $x RETURN count(*) AS n', { x: neo4j.int(2) })
      return a.records.length + b.records[0].get('n').toNumber()
    })
    await session.close()
    assert.equal(n, 16 + 9)
  })

  await test(`${scheme}: plan`, async () => {
    const r = await run('karate', 'EXPLAIN MATCH (a)--(b)--(c)--(a) RETURN a')
    assert.equal(r.summary.hasPlan(), true)
    assert.equal(r.summary.plan.operatorType, 'ProduceResults')
    assert.equal(r.summary.plan.children[0].operatorType, 'Intersect')
    const p = await run('karate', 'PROFILE MATCH (a)--(b)--(c)--(a) RETURN count(*) AS n')
    assert.equal(p.summary.hasProfile(), true)
    assert.equal(p.records[0].get('n').toNumber(), 270)
  })

  await test(`${scheme}: errors`, async () => {
    await assert.rejects(run('karate', 'MATCH (a)--(b) RETRN a'), e => e.code === 'Neo.ClientError.Statement.SyntaxError' && /line 1, column 16/.test(e.message) && e.gqlStatus === '42001')
    await assert.rejects(run('karate', 'CREATE (a)'), e => e.code === 'Neo.ClientError.Statement.AccessMode')
    await assert.rejects(run('nowhere', 'RETURN 1'), e => e.code === 'Neo.ClientError.Database.DatabaseNotFound')
  })

  await test(`${scheme}: procedures`, async () => {
    const r = await run('social', 'CALL db.labels() YIELD label RETURN label ORDER BY label')
    assert.deepEqual(r.records.map(x => x.get('label')), ['P', 'Q'])
    const d = await run('system', 'SHOW DATABASES')
    assert.deepEqual(d.records.map(x => x.get('name')), ['dense', 'karate', 'social', 'system'])
  })

  await test(`${scheme}: a result that is left`, async () => {
    const session = driver.session({ database: 'dense' })
    let rows = 0
    const result = session.run('MATCH (a)--(b)--(c)--(d) RETURN a, b, c, d')
    for await (const _ of result) {
      if (++rows === 25) break
    }
    await session.close()
    assert.equal(rows, 25)
    assert.equal((await run('karate', 'RETURN 1 AS x')).records[0].get('x').toNumber(), 1)
  })

  if (user) {
    await test(`${scheme}: wrong password`, async () => {
      const wrong = neo4j.driver(`${scheme}://${address}`, neo4j.auth.basic(user, 'wrong'), encryption)
      await assert.rejects(wrong.getServerInfo(), e => e.code === 'Neo.ClientError.Security.Unauthorized')
      await wrong.close()
    })
  }
  await driver.close()
}
console.log(`${tests} passed`)
