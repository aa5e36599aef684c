// Types of the BraintreeError codes, and the messages that never vary.
import ERRORS from './errors.json' with { type: 'json' }

/**
 * JavaScript that all of the sandbox's replacements for Braintree's browser scripts share: errors,
 * promises and callbacks, components, events, and the client of the API for pages.
 */
export const BRAINTREE_BASE_SCRIPT = `
  const ERRORS = ${JSON.stringify(ERRORS)}
  // The version in the path of the script, which braintree-web exports by this name.
  const VERSION = (/[/]web[/]([^/]+)[/]/.exec(document.currentScript.src) || [])[1] || 'sandbox'

  class BraintreeError extends Error {
    constructor(code, message, details) {
      const [type, usual] = ERRORS[code] || ['MERCHANT']
      super(message || usual)
      this.name = 'BraintreeError'
      this.type = type
      this.code = code
      this.details = details
    }
  }
  const failure = (code, details, message) => new BraintreeError(code, message, details)
  const notImitated = (what) =>
    failure('NOT_IMITATED', undefined, 'The sandbox does not imitate ' + what + '.')

  /** A promise, or a callback as the last argument. */
  const either = (run) => (...given) => {
    const callback = typeof given[given.length - 1] === 'function' ? given.pop() : null
    const promise = (async () => run(...given))()
    if (!callback) return promise
    promise.then((value) => callback(null, value), (error) => callback(error))
  }

  /** Refuses options that are not in the list, by their names. */
  function checkOptions(owner, options, known) {
    for (const name of Object.keys(options || {})) {
      if (!known.includes(name)) throw notImitated(name + ' of ' + owner)
    }
  }

  /** An instance of a component. Methods that are not in the list are refused by their names, and all of them after teardown(). */
  function component(owner, members, tearDown) {
    let isGone = false
    const teardown = either(async () => {
      if (tearDown) tearDown()
      isGone = true
    })
    return new Proxy({ ...members, teardown }, {
      get(target, name) {
        if (typeof name === 'symbol' || name === 'then') return target[name]
        if (name in target && !isGone) return target[name]
        return () => {
          if (!isGone) throw notImitated(owner + '.' + name + '()')
          throw failure('METHOD_CALLED_AFTER_TEARDOWN', undefined, name + ' cannot be called after teardown.')
        }
      },
    })
  }

  function createEvents() {
    const listeners = {}
    return {
      on(name, listener) {
        listeners[name] = [...(listeners[name] || []), listener]
      },
      off(name, listener) {
        listeners[name] = (listeners[name] || []).filter((each) => each !== listener)
      },
      emit(name, ...event) {
        for (const listener of listeners[name] || []) listener(...event)
      },
      has: (name) => (listeners[name] || []).length > 0,
    }
  }

  function parseToken(authorization) {
    try {
      return JSON.parse(atob(authorization))
    } catch {
      throw failure('CLIENT_INVALID_AUTHORIZATION')
    }
  }

  const STATUSES = { 401: 'CLIENT_AUTHORIZATION_INVALID', 403: 'CLIENT_AUTHORIZATION_INSUFFICIENT' }

  /** Calls the API for pages with a client token. */
  function createRequest(token) {
    const proof = { authorizationFingerprint: token.authorizationFingerprint }
    return async ({ method, endpoint, data }) => {
      const url = token.clientApiUrl + '/v1/' + endpoint
      let response
      try {
        response = method === 'get'
          ? await fetch(url + '?' + new URLSearchParams(proof))
          : await fetch(url, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ ...proof, ...data }),
            })
      } catch {
        throw failure('CLIENT_GATEWAY_NETWORK', { httpStatus: 500 })
      }
      const answer = await response.json().catch(() => null)
      if (response.ok) return answer
      const { status } = response
      const code = STATUSES[status] || (status < 500 ? 'CLIENT_REQUEST_ERROR' : 'CLIENT_GATEWAY_NETWORK')
      throw failure(code, { originalError: answer, httpStatus: status })
    }
  }

  async function openClient(authorization) {
    if (!authorization) {
      const message = 'options.authorization is required when instantiating a client.'
      throw failure('INSTANTIATION_OPTION_REQUIRED', undefined, message)
    }
    const token = parseToken(authorization)
    const request = createRequest(token)
    const gatewayConfiguration = await request({ method: 'get', endpoint: 'configuration' })
    const configuration = {
      authorization,
      authorizationType: 'CLIENT_TOKEN',
      authorizationFingerprint: token.authorizationFingerprint,
      gatewayConfiguration,
      analyticsMetadata: { sdkVersion: 'web/' + VERSION },
    }
    return component('client', {
      request: either((options) => {
        const missing = ['method', 'endpoint'].find((name) => !options[name])
        if (!missing) return request(options)
        const message = 'options.' + missing + ' is required when making a request.'
        throw failure('CLIENT_OPTION_REQUIRED', undefined, message)
      }),
      getConfiguration: () => structuredClone(configuration),
      getVersion: () => VERSION,
    })
  }

  /** The client that a component is given, or a new one. */
  const clientOf = ({ client, authorization }) => client || openClient(authorization)
`
