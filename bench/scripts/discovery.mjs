import { formatRequest } from '../connection.mjs'
import { readSeed } from './token-request.mjs'

/** Requests the metadata document, which every client reads first. */
export function discovery(seed) {
  const { paths } = readSeed(seed)
  const request = formatRequest('GET', paths.discovery, {})
  return {
    request: () => request,
    check({ status, body }) {
      if (status !== 200 || !body.includes('"authorization_endpoint"'))
        throw new Error(`Discovery answered ${status}: ${body.slice(0, 300)}`)
      return 1
    },
  }
}
