/** How a program with an MCP client registers, and its redirect URIs. */
export interface KnownHost {
  readonly name: string
  /** Source and date of this data. None of it was recorded from a running program. */
  readonly source: string
  readonly by: 'registration' | 'document'
  readonly metadata: Readonly<Record<string, unknown>>
  /** The `redirect_uri` of its requests; ports are chosen when the program runs. */
  readonly redirect: string
}

const CODES = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] }
const PUBLIC = { ...CODES, token_endpoint_auth_method: 'none' }

export const KNOWN_HOSTS: readonly KnownHost[] = [
  {
    name: 'VS Code',
    source: 'github.com/microsoft/vscode src/vs/base/common/oauth.ts, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      scope: 'notes:read',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirect: 'http://127.0.0.1:59656/',
  },
  {
    name: 'Claude Code, by its document',
    source: 'github.com/anthropics/claude-code/issues/42301 and 37747, 2026-11-18',
    by: 'document',
    metadata: {
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      ...PUBLIC,
    },
    redirect: 'http://localhost:58135/callback',
  },
  {
    name: 'Claude Code, registering',
    source: 'github.com/elmohq/elmo/pull/684 (recorded there), 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'Claude Code',
      redirect_uris: ['http://localhost:3118/callback'],
      ...PUBLIC,
      application_type: 'native',
    },
    redirect: 'http://localhost:3118/callback',
  },
  {
    name: 'claude.ai',
    source: 'callbacks of github.com/anthropics/claude-ai-mcp/issues/518, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      ...CODES,
      token_endpoint_auth_method: 'client_secret_post',
      scope: '',
    },
    redirect: 'https://claude.ai/api/mcp/auth_callback',
  },
  {
    name: 'ChatGPT',
    source: 'callback of github.com/koala73/worldmonitor/pull/8305, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      ...PUBLIC,
    },
    redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
  },
  {
    name: 'Cursor, at its scheme',
    source: 'github.com/erp-mafia/accounted/pull/2225, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      ...PUBLIC,
    },
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
  },
  {
    name: 'Cursor, at its port',
    source: 'github.com/erp-mafia/accounted/pull/2225, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      ...PUBLIC,
    },
    redirect: 'http://localhost:8787/callback',
  },
  {
    name: 'Zed',
    source: 'github.com/zed-industries/zed/issues/56210 and pull/51768, 2026-11-18',
    by: 'document',
    metadata: {
      client_name: 'Zed',
      client_uri: 'https://zed.dev',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirect: 'http://127.0.0.1:27523/callback',
  },
  {
    name: 'Goose',
    source:
      'github.com/aaif-goose/goose documentation/static/oauth/client-metadata.json, 2026-11-18',
    by: 'document',
    metadata: {
      client_name: 'Goose',
      redirect_uris: ['http://localhost/oauth_callback'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'openid profile email',
      code_challenge_methods_supported: ['S256'],
    },
    redirect: 'http://localhost:41953/oauth_callback',
  },
  {
    name: 'Gemini CLI',
    source:
      'github.com/google-gemini/gemini-cli packages/core/src/mcp/oauth-provider.ts, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'Gemini CLI MCP Client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      ...PUBLIC,
      scope: '',
    },
    redirect: 'http://localhost:7777/oauth/callback',
  },
  {
    name: 'MCP Inspector',
    source: 'github.com/modelcontextprotocol/inspector client/src/lib/auth.ts, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: [
        'http://localhost:6274/oauth/callback',
        'http://localhost:6274/oauth/callback/debug',
      ],
      ...PUBLIC,
      scope: '',
    },
    redirect: 'http://localhost:6274/oauth/callback/debug',
  },
  {
    name: 'mcp-remote',
    source: 'github.com/geelen/mcp-remote src/lib/node-oauth-client-provider.ts, 2026-11-18',
    by: 'registration',
    metadata: {
      client_name: 'MCP CLI Proxy',
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      redirect_uris: ['http://localhost:3334/oauth/callback'],
      ...PUBLIC,
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
      software_version: '0.1.37',
    },
    redirect: 'http://localhost:23019/oauth/callback',
  },
]
