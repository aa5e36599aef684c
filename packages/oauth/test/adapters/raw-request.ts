import { connect } from 'node:net'

export interface RawReply {
  readonly status: number
  readonly text: string
}

/**
 * Sends exactly these lines, which no HTTP client would send, and reads until the server closes the
 * connection.
 */
export function rawRequest(
  base: string,
  requestLine: string,
  headers: readonly string[] = [],
  body = '',
): Promise<RawReply> {
  const { hostname, port, host } = new URL(base)
  const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const lines = [`${requestLine} HTTP/1.1`, `host: ${host}`, ...headers, ...length]
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname)
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('end', () => {
      socket.end()
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text })
    })
    socket.write(`${[...lines, 'connection: close', '', body].join('\r\n')}`)
  })
}
