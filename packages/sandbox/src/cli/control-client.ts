import { type CommandFlag, type CommandInput, readPortFlag } from './command.ts'

export const DEFAULT_CONTROL_PORT = 12_333

export const CONTROL_PORT_FLAG: Readonly<Record<string, CommandFlag>> = {
  'control-port': {
    value: '<port>',
    help: `port of the running sandbox's control room; default ${DEFAULT_CONTROL_PORT}`,
  },
}

/** Flags of every CLI command that controls a running sandbox. */
export const CONTROL_FLAGS: Readonly<Record<string, CommandFlag>> = {
  ...CONTROL_PORT_FLAG,
  json: { help: 'print the result as one line of JSON' },
}

/** Posts a form to the control room and returns the JSON of the response. */
export async function postToControlRoom<Result>(
  input: CommandInput,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Result> {
  const response = await requestControlRoom(input, path, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  return (await response.json()) as Result
}

/** Requests a page of the control room and returns its data. */
export async function readControlRoom<Data>(input: CommandInput, path: string): Promise<Data> {
  return (await (await requestControlRoom(input, path, {})).json()) as Data
}

/**
 * Downloads the whole state of the running sandbox, in the format that the flag `--state` reads.
 */
export async function downloadState(input: CommandInput): Promise<ReadableStream<Uint8Array>> {
  const { body } = await requestControlRoom(input, '/export', {})
  if (body === null) throw new Error('The sandbox sent an empty response')
  return body
}

async function requestControlRoom(
  input: CommandInput,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const url = `http://127.0.0.1:${readPortFlag(input, 'control-port', DEFAULT_CONTROL_PORT)}`
  const headers = { accept: 'application/json' }
  let response: Response
  try {
    response = await fetch(url + path, { ...init, headers })
  } catch (cause) {
    throw new Error(
      `No sandbox answers at ${url}. Start one with tollgate-sandbox, or give the port of its control room with --control-port.`,
      { cause },
    )
  }
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  if (isJson && response.ok) return response
  const text = await response.text()
  const { error } = (isJson ? JSON.parse(text) : {}) as { error?: unknown }
  if (typeof error === 'string') throw new Error(error)
  throw new Error(
    `The server at ${url} is not a control room of this version. Give the control room's port with --control-port.`,
  )
}
