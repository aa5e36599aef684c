import type { AddressInfo } from 'node:net'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { MovableClock } from '../core/clock/clock.ts'
import { type MailFault, MailStore, type SandboxMailbox } from './mailbox.ts'

/** Options of the sandbox's mail server. */
export interface MailboxOptions {
  /**
   * Port of the mail server. 0 takes a free port.
   * @default 0
   */
  readonly port?: number
  /**
   * Number of mails that are kept; older ones are deleted.
   * @default 1000
   */
  readonly kept?: number
  /** The user and password that clients must sign in with. Without it, the server offers no sign-in. */
  readonly auth?: { readonly user: string; readonly password: string }
  /**
   * The certificate and private key (PEM) for encrypted connections: by STARTTLS, or from the
   * beginning if `implicit` is set. Without it, connections are not encrypted.
   */
  readonly tls?: { readonly key: string; readonly cert: string; readonly implicit?: boolean }
}

/** The running mail server, with its mailbox. */
export interface RunningMailServer extends SandboxMailbox {
  close(): Promise<void>
}

const MAX_SIZE = 25 * 1024 * 1024
/** Milliseconds that open connections get at the end. */
const CLOSE_TIMEOUT = 200

/**
 * Starts a mail server on 127.0.0.1, which accepts mail to every address and sends none. Loads the
 * packages `smtp-server` and `postal-mime`.
 */
export async function serveMail(
  { port = 0, kept = 1000, auth, tls }: MailboxOptions,
  clock: MovableClock,
): Promise<RunningMailServer> {
  const [{ SMTPServer }, { default: PostalMime }] = await Promise.all([
    import('smtp-server'),
    import('postal-mime'),
  ])
  const store = new MailStore(clock, kept)

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession) {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    if (stream.sizeExceeded) throw refusal(552, '5.3.4 The mail is too large')
    if (store.take(is('refused-content'))) throw refusal(554, '5.7.1 The content was refused')
    const raw = Buffer.concat(chunks)
    const mail = await PostalMime.parse(raw, { attachmentEncoding: 'arraybuffer' })
    store.add({
      from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
      to: session.envelope.rcptTo.map(({ address }) => address),
      subject: mail.subject ?? '',
      text: mail.text ?? null,
      html: mail.html ?? null,
      headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
      attachments: mail.attachments.map(({ filename, mimeType, content }) => ({
        name: filename ?? 'attachment',
        type: mimeType,
        content: new Uint8Array(content as ArrayBuffer),
      })),
      raw: raw.toString('utf8'),
      isSecure: session.secure,
      user: typeof session.user === 'string' ? session.user : null,
    })
    if (store.take(is('lost-response'))) {
      drop(session)
      return new Promise<void>(() => {})
    }
    const slow = store.take(isSlow)
    if (slow) await new Promise((resolve) => setTimeout(resolve, slow.slowMs))
  }

  const server = new SMTPServer({
    banner: 'Tollgate sandbox',
    size: MAX_SIZE,
    closeTimeout: CLOSE_TIMEOUT,
    disableReverseLookup: true,
    logger: false,
    ...(tls ? { key: tls.key, cert: tls.cert, secure: tls.implicit ?? false } : {}),
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(auth ? [] : ['AUTH'])],
    allowInsecureAuth: tls === undefined,
    authOptional: auth === undefined,
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth({ username, password }, _session, done) {
      const isRight = auth && username === auth.user && password === auth.password
      if (isRight) done(null, { user: username })
      else done(refusal(535, '5.7.8 The user or password is wrong'))
    },
    onRcptTo(_address, _session, done) {
      if (store.take(is('busy'))) done(refusal(451, '4.3.2 The mailbox is busy'))
      else if (store.take(is('unknown-recipient'))) {
        done(refusal(550, '5.1.1 There is no such address'))
      } else done()
    },
    onData(stream, session, done) {
      receive(stream, session).then(
        () => done(null, 'Kept in the mailbox of the sandbox'),
        (error: Error) => done(error),
      )
    },
  })
  // Clients that end a connection in the middle are not errors of the sandbox.
  server.on('error', () => {})
  const drop = ({ id }: SMTPServerSession) => {
    for (const connection of server.connections) {
      if (connection.id === id) connection._socket.destroy()
    }
  }
  server.server.prependListener('connection', (socket) => {
    if (store.take(is('away'))) socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.server.off('error', reject)
      resolve()
    })
  })
  const address = server.server.address() as AddressInfo
  return {
    url: `${tls?.implicit ? 'smtps' : 'smtp'}://127.0.0.1:${address.port}`,
    messages: () => store.messages(),
    find: (id) => store.find(id),
    deleteAll: () => store.deleteAll(),
    fail(fault, count) {
      store.fail(fault, count)
      if (fault !== 'away') return
      for (const connection of server.connections) connection._socket.destroy()
    },
    fault: () => store.fault(),
    recover: () => store.recover(),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const is =
  <Kind extends MailFault & string>(kind: Kind) =>
  (fault: MailFault): fault is Kind =>
    fault === kind

const isSlow = (fault: MailFault): fault is Exclude<MailFault, string> => typeof fault === 'object'

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}
