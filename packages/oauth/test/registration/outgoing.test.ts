import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DocumentFetcher } from '../../src/outgoing/documents.ts'
import { MAX_FETCHES_PER_NETWORK } from '../../src/outgoing/fetch-slots.ts'
import { createOutgoingRequests, resolveOutgoing } from '../../src/outgoing/outgoing.ts'
import { movableClock } from '../../src/testing/index.ts'
import { outgoing, startWebServer, type WebServer } from './support.ts'

const RULES = { types: ['application/json'], largest: 1000, staleIfError: 600 }

let web: WebServer
let clock: ReturnType<typeof movableClock>
let documents: DocumentFetcher
beforeEach(async () => {
  web = await startWebServer()
  clock = movableClock()
  documents = startAsking()
})
afterEach(() => web.close())

function startAsking(changes: Parameters<typeof outgoing>[0] = {}): DocumentFetcher {
  return createOutgoingRequests(resolveOutgoing(outgoing(changes)), clock).documents
}

const refused = (promise: Promise<unknown>, message: RegExp) =>
  expect(promise).rejects.toMatchObject({
    name: 'NotFetched',
    message: expect.stringMatching(message),
  })

describe('requests to URLs that clients supply (threat S1, threat T13, threat N5)', () => {
  it('connect to the IP address of the host and fetch a document', async () => {
    web.answerJson({ hello: 'world' })
    const { content } = await documents.get(web.urlOf('/a'), RULES, null)
    expect(content).toEqual({ hello: 'world' })
    expect(web.asked[0]?.headers).toMatchObject({
      host: `app.example:${web.port}`,
      'accept-encoding': 'identity',
    })
  })

  it('are not sent if the host resolves to a private address', async () => {
    web.answerJson({})
    const shut = startAsking({ privateAddresses: [] })
    await refused(shut.get(web.urlOf('/'), RULES, null), /not public/)
    expect(web.asked).toEqual([])
  })

  it('are not sent if one of several IP addresses of the host is private', async () => {
    web.answerJson({})
    const mixed = startAsking({
      resolve: async () => [
        { address: '127.0.0.1', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    })
    await refused(mixed.get(web.urlOf('/'), RULES, null), /10\.0\.0\.1, which is not public/)
    expect(web.asked).toEqual([])
  })

  it('connect to the IP address that was checked, even if the host name resolves differently a moment later', async () => {
    web.answerJson({})
    let questions = 0
    const rebinding = startAsking({
      resolve: async () => {
        questions += 1
        return [{ address: questions === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]
      },
    })
    await rebinding.get(web.urlOf('/'), RULES, null)
    expect(questions).toBe(1)
    expect(web.asked).toHaveLength(1)
  })

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/meta-data',
  ])('are refused if the URL has a private address: %s', async (url) => {
    const shut = startAsking({ privateAddresses: [] })
    await refused(shut.get(url, RULES, null), /not public/)
  })

  it.each([
    ['http://app.example/', /not https/],
    ['file:///etc/passwd', /not https/],
    ['https://user:word@app.example/', /must not contain a user name/],
    ['nothing', /not a URL/],
  ])('are refused for the URL %s', (url, message) =>
    refused(documents.get(url, RULES, null), message),
  )

  it('are refused for a URL of 3000 characters', () =>
    refused(documents.get(`https://app.example/${'a'.repeat(3000)}`, RULES, null), /too long/))

  it('fail if the certificate is not trusted', async () => {
    web.answerJson({})
    await refused(startAsking({ certificates: [] }).get(web.urlOf('/'), RULES, null), /no response/)
  })

  it('fail if the certificate belongs to another host', async () => {
    web.answerJson({})
    await refused(documents.get(web.urlOf('/', 'evil.example'), RULES, null), /no response/)
  })

  it.each([301, 302, 303, 307, 308])(
    'do not follow a redirect with the status %i',
    async (status) => {
      const location = web.urlOf('/there', 'other.example')
      web.answer((_request, response) => response.writeHead(status, { location }).end())
      await refused(documents.get(web.urlOf('/'), RULES, null), /is a redirect/)
      expect(web.asked).toHaveLength(1)
    },
  )

  it('stop reading a body that is too long', async () => {
    let sent = 0
    web.answer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const write = () => {
        while (!request.socket.destroyed && response.write('['.repeat(10_000))) sent += 10_000
        if (!request.socket.destroyed) response.once('drain', write)
      }
      write()
    })
    await refused(documents.get(web.urlOf('/'), RULES, null), /longer than 1000/)
    // Socket buffers hold this much, not the whole body the other side sends.
    expect(sent).toBeLessThan(50_000_000)
  })

  it('fail if the body arrives too slowly', async () => {
    const impatient = startAsking({ timeout: 1 })
    web.answer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      request.socket.once('close', () => clearInterval(drip))
    })
    await refused(impatient.get(web.urlOf('/'), RULES, null), /no response/)
  })

  it('fail if no response arrives in time', async () => {
    web.answer(() => {})
    await refused(startAsking({ timeout: 1 }).get(web.urlOf('/'), RULES, null), /no response/)
  })

  it('fail if the DNS resolver does not answer in time', async () => {
    const hanging = startAsking({ timeout: 1, resolve: () => new Promise(() => {}) })
    await refused(hanging.get(web.urlOf('/'), RULES, null), /too long/)
  })

  it('fail if the response is compressed, because its size is unknown', async () => {
    web.answerJson({}, { 'content-encoding': 'gzip' })
    await refused(documents.get(web.urlOf('/'), RULES, null), /compressed/)
  })

  it.each(['text/html', 'text/plain', '', 'application/jsonp', 'image/svg+xml'])(
    'fail if the content type is %s',
    async (type) => {
      web.answerJson({}, { 'content-type': type })
      await refused(documents.get(web.urlOf('/'), RULES, null), /content type/)
    },
  )

  it.each([
    ['not JSON', 'hello'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('fail if the response is %s', async (_what, body) => {
    web.answer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
    await refused(documents.get(web.urlOf('/'), RULES, null), /not JSON/)
  })

  it.each([201, 204, 400, 404, 500])('fail if the status is %i', async (status) => {
    web.answer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
    )
    await refused(documents.get(web.urlOf('/'), RULES, null), new RegExp(`${status}`))
  })

  it('are possible only with valid private address ranges: an invalid one is rejected at start-up and named', () => {
    expect(() => resolveOutgoing({ privateAddresses: ['localhost'] })).toThrow("'localhost'")
    expect(() => resolveOutgoing({ privateAddresses: ['10.0.0.0/33'] })).toThrow('10.0.0.0/33')
    expect(() => resolveOutgoing({ timeout: 31 })).toThrow('1 to 30')
  })
})

describe('the cache of fetched documents', () => {
  const askAfter = async (seconds: number) => {
    if (seconds > 0) clock.advance({ seconds: seconds })
    return (await documents.get(web.urlOf('/'), RULES, null)).content
  }

  it('keeps a document for the max-age of the response minus its Age header', async () => {
    web.answerJson({}, { 'cache-control': 'max-age=1000', age: '400' })
    await askAfter(0)
    await askAfter(599)
    expect(web.asked).toHaveLength(1)
    await askAfter(2)
    expect(web.asked).toHaveLength(2)
  })

  it.each([
    ['at least a minute', { 'cache-control': 'no-store' }, 59, 61],
    ['at most a day', { 'cache-control': 'max-age=999999999' }, 86_399, 86_401],
    ['five minutes without caching headers', {}, 299, 301],
    ['a minute if Expires is invalid', { expires: 'never' }, 59, 61],
  ])('keeps a document for %s', async (_what, headers, fresh, stale) => {
    web.answerJson({}, headers)
    await askAfter(0)
    await askAfter(fresh)
    expect(web.asked).toHaveLength(1)
    await askAfter(stale - fresh)
    expect(web.asked).toHaveLength(2)
  })

  it('revalidates a stale document with its ETag', async () => {
    web.answerJson({ first: true }, { etag: '"one"' })
    const first = await askAfter(0)
    web.answer((request, response) => {
      response.writeHead(request.headers['if-none-match'] === '"one"' ? 304 : 500).end()
    })
    expect(await askAfter(400)).toBe(first)
    expect(await askAfter(100)).toBe(first)
    expect(web.asked).toHaveLength(2)
  })

  it('keeps a stale document while its server cannot be reached, but not if the document was deleted', async () => {
    web.answerJson({ kept: true })
    await askAfter(0)
    web.answer((_request, response) => response.writeHead(503).end())
    expect(await askAfter(400)).toEqual({ kept: true })
    web.answer((_request, response) => response.writeHead(404).end())
    await refused(askAfter(60), /404/)
    web.answer((_request, response) => response.writeHead(503).end())
    await refused(askAfter(600), /503/)
  })

  it('remembers a failure for a short time, so that callers cannot use this server to flood another', async () => {
    web.answer((_request, response) => response.writeHead(500).end())
    for (let i = 0; i < 5; i += 1) await refused(documents.get(web.urlOf('/'), RULES, null), /500/)
    expect(web.asked).toHaveLength(1)
    clock.advance({ seconds: 11 })
    await refused(documents.get(web.urlOf('/'), RULES, null), /500/)
    expect(web.asked).toHaveLength(2)
  })

  it('sends one request for concurrent callers', async () => {
    web.answerJson({})
    await Promise.all(Array.from({ length: 20 }, () => documents.get(web.urlOf('/'), RULES, null)))
    expect(web.asked).toHaveLength(1)
  })

  it('makes a network wait if its requests go to slow servers, without delaying other networks (threat Q6)', async () => {
    const waiting: Array<() => void> = []
    web.answer((request, response) => {
      const answer = () =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"fetched":true}')
      if (request.url?.startsWith('/slow')) waiting.push(answer)
      else answer()
    })
    const slow = Array.from({ length: 8 }, (_, index) =>
      documents.get(web.urlOf(`/slow${index}`), RULES, '192.0.2.1'),
    )
    await expect.poll(() => waiting.length).toBe(MAX_FETCHES_PER_NETWORK)
    const { content } = await documents.get(web.urlOf('/other'), RULES, '192.0.2.2')
    expect(content).toEqual({ fetched: true })
    for (let answered = 0; answered < slow.length; answered += 1) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      waiting.shift()?.()
    }
    for (const each of await Promise.all(slow)) expect(each.content).toEqual({ fetched: true })
  })

  it('refuses a request if several requests from the same network are already waiting', async () => {
    web.answer(() => {})
    const slow = startAsking({ timeout: 1 })
    const asking = Array.from({ length: 30 }, (_, index) =>
      slow.get(web.urlOf(`/${index}`), RULES, '192.0.2.1'),
    )
    await refused(Promise.all(asking), /Too many documents/)
    await Promise.allSettled(asking)
  })

  it('does not delete the documents of one network to make room for another network (threat Q6)', async () => {
    web.answer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(request.url))
    })
    await documents.get(web.urlOf('/mine'), RULES, '192.0.2.1')
    for (let index = 0; index < 2100; index += 1) {
      await documents.get(web.urlOf(`/${index}`), RULES, '192.0.2.2')
    }
    const asked = web.asked.length
    await documents.get(web.urlOf('/mine'), RULES, '192.0.2.3')
    expect(web.asked).toHaveLength(asked)
  })
})
