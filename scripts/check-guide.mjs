// npm run check:guide: follows docs/guides/getting-started.md literally in an empty folder. It
// installs the packages from `npm run pack`, joins the guide's code blocks to one Express app,
// compiles it with the strictest settings, signs in and approves, and runs the guide's commands,
// which get a token and call the API with it. The only difference is a free port instead of 3000.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packInto } from './pack.mjs'
import { prepare } from './prepare.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'))
const guide = readFileSync('docs/guides/getting-started.md', 'utf8')
const ISSUER = 'http://localhost:3000'

/**
 * Code that the guide expects its reader to have: an Express app, users who sign in, and orders.
 */
const READER_APP = `
import express from 'express'
const app = express()
const people = new Map([['1', { id: '1', email: 'ada@example.com', password: 'correct horse' }]])
const db = { user: (id: string) => people.get(id) ?? null }
function checkPassword(email: string, password: string) {
  return [...people.values()].find((one) => one.email === email && one.password === password) ?? null
}
const ordersOf = (userId: string) => [{ id: 7, userId }]
`
/** The reader's own sign-in, added after the session middleware. */
const SIGN_IN = `
app.get('/login', (request, response) => {
  request.session.userId = '1'
  response.redirect(String(request.query.return_to ?? '/'))
})
`
const LISTEN = `
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = address && typeof address === 'object' ? address.port : 0
  console.log(JSON.stringify({ port, client: client.id, secret: clientSecret }))
})
`

/** Joins the guide's code blocks in order. */
function writeApp() {
  const blocks = [...guide.matchAll(/```ts[^\n]*\n([\s\S]*?)```/g)].map(([, code]) => code)
  const [users, server, mount, guard, client, ...more] = blocks
  if (!client || more.length > 0)
    throw new Error('The guide has other blocks than this check knows')
  const session = /\n {2}\/\/ who is signed in[\s\S]*?\n {2}\},/
  if (!session.test(users)) throw new Error('The guide no longer shows users.fromRequest')
  const text = [
    READER_APP,
    // Step 4 says to omit fromRequest if the framework's session is used.
    users.replace(session, ''),
    server,
    mount,
    SIGN_IN,
    guard,
    // Both blocks have a constant named `secret`, which would be in different files.
    client
      .replace('{ client, secret }', '{ client, secret: clientSecret }')
      .replace('console.log(client.id, secret)', ''),
    LISTEN,
  ].join('\n')
  writeFileSync(join(folder, 'app.ts'), text)
}

function run(title, command, args) {
  console.log(`- ${title}`)
  execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

function install() {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const files = packInto(join(folder, 'tarballs')).filter((file) =>
    /oauth|http|database/.test(file),
  )
  const others = [
    'libsql@0.5',
    'express@5',
    'express-session@1',
    'typescript@5.9',
    '@types/node@20',
  ]
  const types = ['@types/express@5', '@types/express-session@1']
  run('npm install, as the guide says', 'npm', [
    'install',
    '--silent',
    '--prefer-offline',
    ...files,
    ...others,
    ...types,
  ])
}

function compile() {
  const options = {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
    skipLibCheck: true,
    types: ['node'],
  }
  const config = { compilerOptions: options, files: ['app.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  run('tsc --strict', join(folder, 'node_modules/.bin/tsc'), ['-p', '.'])
}

async function startApp() {
  const child = spawn(process.execPath, ['app.js'], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: 'sqlite::memory:',
      TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
      SESSION_SECRET: 'Yh5Ng0Ju4DakS9x1QfVbT7mZp3Lr8Wc2',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk)))
    child.once('exit', (code) => reject(new Error(`The app ended with ${code}`)))
  })
  return { ...JSON.parse(line), stop: () => child.kill() }
}

/** Returns the address and the two commands of step 7. */
function readStep7() {
  const [address] = new RegExp(`^${ISSUER}/oauth/authorize\\S+`, 'm').exec(guide) ?? []
  const [exchange, use] = guide.match(/^curl .*/gm) ?? []
  if (!address || !use) throw new Error('The guide no longer shows step 7 as this check knows it')
  return { address, exchange, use }
}

/** Signs in, approves, exchanges the code and calls the API, as in step 7 of the guide. */
async function useApp({ port, client, secret }) {
  const cookies = new Map()
  const call = async (url, init = {}) => {
    const { pathname, search } = new URL(url, ISSUER)
    const response = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
      redirect: 'manual',
      ...init,
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        origin: ISSUER,
        accept: 'text/html',
        ...init.headers,
      },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const paste = (command, values) => {
    let text = command.replace(ISSUER, `http://127.0.0.1:${port}`)
    for (const [name, value] of Object.entries(values)) text = text.replace(name, value)
    return execFileSync('sh', ['-c', text], { encoding: 'utf8' })
  }
  const { address, exchange, use } = readStep7()
  const login = await call(address.replace('client_id=ID', `client_id=${client}`))
  const back = await call(login.headers.get('location'))
  const page = await (await call(back.headers.get('location'))).text()
  const [, action] = /<form method="post" action="([^"]+)"/.exec(page) ?? []
  const [, csrf] = /name="csrf_token" value="([^"]+)"/.exec(page) ?? []
  const body = new URLSearchParams({ csrf_token: csrf, decision: 'approve' })
  const approved = await call(action, { method: 'POST', body })
  const code = new URL(approved.headers.get('location')).searchParams.get('code')
  const values = { '=ID': `=${client}`, '=SECRET': `=${secret}`, '=CODE': `=${code}` }
  const { access_token: TOKEN } = JSON.parse(paste(exchange, values))
  const orders = paste(use, { TOKEN })
  if (orders !== '[{"id":7,"userId":"1"}]') throw new Error(`/orders answered ${orders}`)
}

try {
  if ((await prepare()) !== 0) throw new Error('It could not be built')
  install()
  writeApp()
  compile()
  const app = await startApp()
  try {
    await useApp(app)
  } finally {
    app.stop()
  }
  console.log('- a client got a token and the token opened /orders')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
