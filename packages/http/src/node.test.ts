import { createServer, IncomingMessage, request as send } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromNodeRequest, type NodeMessage, sendResponse } from './node.ts'
import type { HttpRequest } from './request.ts'

/** Starts a server that passes each message to `use`. Returns its URL. */
async function listen(use: (request: HttpRequest, message: NodeMessage) => unknown) {
  const server = createServer(async (message, response) => {
    const body = JSON.stringify((await use(fromNodeRequest(message), message)) ?? null)
    sendResponse({ status: 200, headers: { 'set-cookie': ['a=1', 'b=2'] }, body }, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a Node request, as the router receives it,', () => {
  it('has the path, query, headers and body that were sent', async () => {
    const url = await listen(async (request) => ({
      target: [request.method, request.path, request.query],
      header: [request.header('x-one'), request.header('x-none')],
      body: await request.text(100),
    }))
    const response = await fetch(`${url}/a%2Fb?c=%20`, {
      method: 'POST',
      headers: { 'x-one': '1' },
      body: 'ünïcode',
    })
    expect(await response.json()).toEqual({
      target: ['POST', '/a%2Fb', 'c=%20'],
      header: ['1', null],
      body: 'ünïcode',
    })
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  it('gets the configured URL if it is converted to a Web request, whatever its Host header says', async () => {
    const url = await listen((request) => request.toRequest('https://api.example.com/base').url)
    const hosts = ['evil.example', 'a b', '']
    for (const host of hosts) {
      const text = await new Promise((resolve, reject) => {
        send(`${url}/me?x=1`, { headers: { host } }, (response) => {
          response.setEncoding('utf8').on('data', resolve)
        })
          .on('error', reject)
          .end()
      })
      expect(text).toBe('"https://api.example.com/me?x=1"')
    }
  })

  it.each(['TRACE', 'trace', 'TRACK', 'CONNECT'])(
    'is rejected with 405 for the method %s if it is converted to a Web request, which cannot have that method',
    (method) => {
      const message = Object.assign(new IncomingMessage(new Socket()), { method, url: '/me' })
      expect(() => fromNodeRequest(message).toRequest('https://api.example.com')).toThrow(
        expect.objectContaining({ code: 'method_not_allowed', status: 405 }),
      )
    },
  )

  it.each(['text', 'rawText'] as const)(
    'makes %s() resolve or reject if the message is destroyed before or during the read, with or without an error',
    async (read) => {
      for (const error of [undefined, new Error('gone')]) {
        for (const when of ['before', 'meanwhile']) {
          const settled = new Promise((resolve) => {
            void listen(async (request, message) => {
              if (when === 'before') message.destroy(error)
              const reading = request[read](100).catch((thrown) => thrown.code)
              if (when === 'meanwhile') message.destroy(error)
              resolve(await reading)
            }).then((url) => {
              const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
              socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf')
            })
          })
          expect(await settled).toBe('request_cut_off')
        }
      }
    },
  )

  it('serializes a body that a parser has already read, but rejects reading it to verify a signature', async () => {
    const message = (body: unknown, type: string) =>
      ({ headers: { 'content-type': type }, body, readableEnded: true }) as unknown as NodeMessage
    const form = message({ a: 'b c', d: ['e', 'f'] }, 'application/x-www-form-urlencoded')
    expect(await fromNodeRequest(form).text(100)).toBe('a=b%20c&d=e&d=f')
    expect(await fromNodeRequest(message({ a: 1 }, 'application/json')).text(100)).toBe('{"a":1}')
    await expect(fromNodeRequest(form).rawText(100)).rejects.toThrow('Mount these routes before')
    const bytes = message(Buffer.from('{"a": 1}'), 'application/json')
    expect(await fromNodeRequest(bytes).rawText(100)).toBe('{"a": 1}')
    const nested = message({ a: { b: 'c' } }, 'application/x-www-form-urlencoded')
    await expect(fromNodeRequest(nested).text(100)).rejects.toMatchObject({
      code: 'malformed_body',
      status: 400,
    })
  })
})
