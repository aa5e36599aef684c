import { connect } from 'node:net'

/**
 * One keep-alive HTTP/1.1 connection that sends one request at a time. It uses the bare socket,
 * because generating load must cost far less than the server under test.
 */
export class Connection {
  #socket
  #text = ''
  #respond = null
  #fail = null

  /** @param {number} port */
  constructor(port) {
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.#fail?.(error))
    this.#socket.on('close', () => this.#fail?.(new Error('The server closed the connection')))
  }

  /**
   * @param {string} request the whole request, head and body
   * @param {(response: Response) => void} respond
   * @param {(error: Error) => void} fail
   */
  send(request, respond, fail) {
    this.#respond = respond
    this.#fail = fail
    this.#socket.write(request, 'latin1')
  }

  close() {
    this.#fail = null
    this.#socket.destroy()
  }

  #receive(chunk) {
    this.#text = this.#text === '' ? chunk : this.#text + chunk
    const response = parseResponse(this.#text)
    if (!response) return
    this.#text = ''
    const respond = this.#respond
    this.#respond = null
    if (respond) respond(response)
  }
}

/**
 * @typedef {{ status: number, head: string, body: string }} Response
 * @param {string} text
 * @returns {Response | null} null while the response is incomplete
 */
function parseResponse(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = text.slice(0, end)
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length) {
    if (text.length < end + 4 + Number(length[1])) return null
    return { status, head, body: text.slice(end + 4) }
  }
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    if (!text.endsWith('\r\n0\r\n\r\n') && !text.startsWith('0\r\n\r\n', end + 4)) return null
    return { status, head, body: joinChunks(text, end + 4) }
  }
  return { status, head, body: '' }
}

function joinChunks(text, start) {
  let body = ''
  let at = start
  for (;;) {
    const line = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, line), 16)
    if (!size) return body
    body += text.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Record<string, string>} headers
 * @param {string} [body]
 * @returns {string} the bytes of a request
 */
export function formatRequest(method, path, headers, body) {
  let text = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
  for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`
  if (body === undefined) return `${text}\r\n`
  return `${text}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
