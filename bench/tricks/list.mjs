/**
 * Everything that is written for speed and could be written more plainly. `without` says how: texts of a
 * built file and what stands there instead. A text that is not found is an error, so the list stays true.
 *
 * @typedef {{ name: string, row: string, seen?: boolean, file: string,
 *   without: ReadonlyArray<readonly [text: string, plain: string]> }} Trick
 */
const nothing = '{ get() {}, set() {}, delete() {}, clear() {} }'
const alone = ['const { batching } = database.dialect;', 'const batching = null;']

/** @type {readonly Trick[]} `row` is the label of one of ../rows.mjs */
export const tricks = [
  {
    name: 'clients are remembered',
    row: 'issue postgres ES256',
    file: 'oauth/dist/caches/client-cache.js',
    without: [['createRecentCache(REMEMBERED_CLIENTS)', nothing]],
  },
  {
    name: 'codes are remembered until they are exchanged',
    row: 'authorize+token postgres',
    file: 'oauth/dist/caches/code-cache.js',
    without: [['createRecentCache(REMEMBERED_CODES)', nothing]],
  },
  {
    name: 'consents are remembered',
    row: 'authorize+token postgres',
    file: 'oauth/dist/caches/consent-cache.js',
    without: [['createRecentCache(REMEMBERED_CONSENTS)', nothing]],
  },
  {
    name: 'redirect URIs that were checked are remembered',
    row: 'authorize+token memory',
    file: 'oauth/dist/clients/redirect-uris.js',
    without: [['createRecentCache(REMEMBERED)', nothing]],
  },
  {
    name: 'verified tokens are remembered',
    row: 'guarded GET seen before',
    file: 'oauth/dist/guard/verify.js',
    without: [['createRecentCache(REMEMBERED_TOKENS)', nothing]],
  },
  {
    name: 'inserts go together',
    row: 'issue postgres ES256',
    file: 'database/dist/batching/insert.js',
    without: [alone],
  },
  {
    name: 'claims go together',
    row: 'refresh postgres ES256',
    file: 'database/dist/batching/claim.js',
    without: [alone],
  },
  {
    name: 'inserts that rest on a row go together',
    row: 'authorize+token one user',
    file: 'database/dist/batching/insert-while.js',
    without: [alone],
  },
  {
    name: 'reads by key go together',
    row: 'introspect postgres opaque',
    file: 'database/dist/batching/find.js',
    without: [alone],
  },
  {
    name: 'statements are compiled once',
    row: 'issue postgres ES256',
    file: 'database/dist/statements/statement.js',
    without: [['plan ??= compile', 'plan = compile']],
  },
  {
    name: 'node:crypto signs, not WebCrypto',
    row: 'issue memory ES256',
    file: 'oauth/dist/crypto.js',
    without: [
      [
        "return signSync(digest, bytes, keyInput(key)).toString('base64url');",
        `return (key.web ??= globalThis.crypto.subtle.importKey('jwk', key.export({ format: 'jwk' }),
            { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']))
            .then((web) => globalThis.crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, web, bytes))
            .then((signature) => Buffer.from(signature).toString('base64url'));`,
      ],
    ],
  },
  {
    name: 'HMAC by two plain hashes',
    row: 'issue memory opaque',
    file: 'oauth/dist/crypto.js',
    without: [
      ['import { createPrivateKey,', 'import { createHmac, createPrivateKey,'],
      ['return { inner, outer };', 'return { key };'],
      [
        'export function hmac({ inner, outer }, text) {',
        `export function hmac({ inner, outer, key }, text) {
    if (key) return createHmac('sha256', key).update(text).digest('base64url');`,
      ],
    ],
  },
  {
    name: 'random bytes are drawn many at a time',
    row: 'authorize+token memory',
    file: 'oauth/dist/crypto.js',
    without: [
      [
        'const bytes = pool.subarray(used, used + SECRET_BYTES);',
        'const bytes = randomFillSync(Buffer.alloc(SECRET_BYTES));',
      ],
    ],
  },
  {
    name: 'plain requests and responses, not those of the Web',
    row: 'issue memory ES256',
    file: 'http/dist/mount/node.js',
    without: [
      [
        "import { notFound } from '../response.js';",
        "import { notFound } from '../response.js';\nimport { fromWebRequest, toWebResponse } from '../web.js';",
      ],
      [
        'const pending = routes.handle(fromNodeRequest(message, signedInReader(options, message)));',
        `const body = [];
        message.on('data', (chunk) => body.push(chunk));
        message.on('end', () => {
            const { method, url, headers } = message;
            const init = { method, headers, body: method === 'POST' ? Buffer.concat(body) : null };
            const request = new Request('http://127.0.0.1' + url, init);
            const plain = fromWebRequest(request, signedInReader(options, message));
            routes.handle(plain).then(toWebResponse).then(async (made) => {
                const headers = Object.fromEntries(made.headers);
                sendResponse({ status: made.status, headers, body: await made.text() }, response);
            });
        });
        return;
        const pending = null;`,
      ],
    ],
  },
  {
    name: 'the request is a class, not an object with functions',
    row: 'issue memory opaque',
    file: 'http/dist/node.js',
    without: [
      [
        'return new NodeRequest(message, signedIn);',
        `const { path, query } = splitTarget(message.originalUrl ?? message.url ?? '/');
    return {
        method: message.method ?? 'GET', path, query, signedIn,
        header: (name) => readHeader(message, name),
        text: (limit) => readBody(message, limit, encodeParsed),
        rawText: (limit) => readBody(message, limit, requireRaw),
        toRequest(baseUrl) {
            const request = new Request(publicUrl(baseUrl, this), { method: this.method });
            copyHeaders(message, request.headers);
            return request;
        },
    };`,
      ],
    ],
  },
  {
    name: 'rows get more values by Object.assign, not spread',
    row: 'authorize+token postgres',
    file: 'oauth/dist/storage/kysely/consents.js',
    without: [
      [
        'insertCode(Object.assign(codeTable.toRow(code), approval))',
        'insertCode({ ...codeTable.toRow(code), ...approval })',
      ],
    ],
  },
]

const invoice = {
  id: 'in_1',
  object: 'invoice',
  metadata: { order: '6735' },
  lines: Array.from({ length: 3 }, (_, index) => ({
    id: `il_${index}`,
    amount: 1999,
    currency: 'usd',
    description: 'One month of something that has a name',
    period: { start: 1_700_000_000, end: 1_702_592_000 },
  })),
}

/** Those that are no part of a row: a plain way and ours, called in turn. @param {(path: string) => string} at */
export async function listCalls(at) {
  const { formatMoney } = await import(at('billing/dist/values/money.js'))
  const { copyJson } = await import(at('sandbox/dist/core/store/copy-json.js'))
  return [
    {
      name: 'formats of money are remembered',
      ours: () => formatMoney({ amount: 1999, currency: 'eur' }),
      plain: () =>
        new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format('19.99'),
    },
    {
      name: 'formats of dates are remembered',
      ours: (
        (dates) => () =>
          dates.format(1.7e12)
      )(new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })),
      plain: () =>
        new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(1.7e12),
    },
    {
      name: 'JSON is copied by hand',
      ours: () => copyJson(invoice),
      plain: () => structuredClone(invoice),
    },
    {
      name: 'a field is blanked, not left out',
      ours: () => ({ ...invoice, metadata: undefined }),
      plain: () => {
        const { metadata, ...rest } = invoice
        return rest
      },
    },
  ]
}
