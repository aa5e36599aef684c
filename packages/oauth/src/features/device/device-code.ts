import type { ServerContext } from '../../context.ts'
import type { Grant } from '../../grants/grant.ts'
import { parseSeconds } from '../../lifetimes.ts'
import { authorizeDevice } from './device-authorization.ts'
import { answerDevice, showDevicePage } from './page.ts'
import { DEVICE_CODE, pollDevice } from './poll.ts'

/** What `deviceCode()` is made with. */
export interface DeviceCodeOptions {
  /** How long a person has to type the code and approve, 1 to 30 minutes. Default 10 minutes. */
  readonly lifetime?: string | number
  /** How long a device waits between two requests, 1 to 60 seconds. Default 5 seconds. */
  readonly interval?: string | number
}

/**
 * RFC 8628, for devices without a browser or a keyboard: they show a short code, the person types it on a page
 * of ours and approves there, and the device asks until it gets its token.
 * @example
 * createAuthorizationServer({ …, grants: [deviceCode(), refreshToken()] })
 */
export function deviceCode(options: DeviceCodeOptions = {}): Grant {
  const settings = {
    lifetime: secondsBetween('lifetime', options.lifetime ?? 600, 60, 1800),
    interval: secondsBetween('interval', options.interval ?? 5, 1, 60),
  }
  return {
    type: DEVICE_CODE,
    exchange: (request, context: ServerContext) => pollDevice(request, context),
    routes: [
      {
        method: 'POST',
        path: '/device_authorization',
        openTo: 'clients',
        endpoint: (request, context: ServerContext) => authorizeDevice(request, settings, context),
      },
      { method: 'GET', path: '/device', isPage: true, endpoint: showDevicePage },
      { method: 'POST', path: '/device', isPage: true, endpoint: answerDevice },
    ],
    metadata: ({ options: { issuerUrl, basePath } }: ServerContext) => ({
      device_authorization_endpoint: `${issuerUrl.origin}${basePath}/device_authorization`,
    }),
  }
}

function secondsBetween(name: string, value: string | number, least: number, most: number): number {
  const seconds = parseSeconds(`deviceCode: ${name}`, value)
  if (seconds >= least && seconds <= most) return seconds
  throw new TypeError(`deviceCode: ${name} must be ${least} to ${most} seconds.`)
}
