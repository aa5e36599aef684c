import type { ControlRoomView } from '../parts/layout.ts'
import type { ObservedSandbox } from '../story/observed-sandbox.ts'

/** A request for a page of the control room. */
export interface PageRequest {
  readonly sandbox: ObservedSandbox
  /** Values of the `:name` segments in the page's path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Path and query of the requested page. */
  readonly path: string
}

/** A page of the control room: how to read its data, and how to render them. */
export interface ControlRoomPage {
  /** Returns the data that the page shows, or `null` if the requested object does not exist. */
  readonly read: (request: PageRequest) => unknown
  readonly show: (data: never, request: PageRequest) => ControlRoomView
}

/**
 * Defines a page of the control room by two functions: `read` returns its data, `show` renders
 * them.
 */
export function definePage<Data extends object>(
  read: (request: PageRequest) => Promise<Data | null> | Data | null,
  show: (data: Data, request: PageRequest) => ControlRoomView,
): ControlRoomPage {
  return { read, show }
}
