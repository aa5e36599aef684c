import { auth } from '@/lib/tollgate'

export const GET = auth('api', async (_request, { user }) => Response.json(await user.find()))
