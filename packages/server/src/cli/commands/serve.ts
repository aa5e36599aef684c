import { describeService, serviceJson } from '../banner.ts'
import { type Command, textOption } from '../command.ts'
import { serve } from '../serve.ts'

export const serveCommand: Command = {
  summary: 'run the service until it is told to end',
  options: [
    { flags: '--port <port>', description: 'instead of PORT; 0 takes a free one' },
    { flags: '--host <address>', description: 'instead of HOST' },
  ],
  async run(input, context) {
    const service = await serve({
      ...context.environment,
      PORT: textOption(input, 'port') ?? context.environment.PORT,
      HOST: textOption(input, 'host') ?? context.environment.HOST,
    })
    const { json } = context
    if (json) context.print(`${JSON.stringify(serviceJson(service))}\n`)
    else if (service.demo) context.print(`${describeService(service)}\n`)
    return null
  },
}
