import { logQueries, toSavedQuery } from '../../deploy/watch/logQueries.ts';
import type { Stage } from '../../stages/stages.ts';

/** The saved queries of a stage, each with the link that opens it in the console, for the last hour. */
export function toQueryLinks(stage: Stage, region: string) {
  return logQueries.map((query) => {
    const { queryString, logGroupNames } = toSavedQuery(stage, query);
    const detail = toJsurl({
      ...{ end: 0, start: -3_600, timeType: 'RELATIVE', unit: 'seconds' },
      ...{ editorString: queryString, source: logGroupNames },
    });
    const link = `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:logs-insights$3FqueryDetail$3D${detail}`;
    return { name: query.name, link };
  });
}

type Jsurl = string | number | readonly Jsurl[] | { readonly [name: string]: Jsurl };

/** The notation of the console's links, which AWS does not document: https://github.com/Sage/jsurl */
function toJsurl(value: Jsurl): string {
  if (typeof value === 'number') return `~${value}`;
  if (typeof value === 'string') return `~'${value.replace(/[^\w-]/g, toStar)}`;
  if (Array.isArray(value)) return `~(${value.map(toJsurl).join('')})`;
  return `~(${Object.entries(value)
    .map(([name, part]) => name + toJsurl(part))
    .join('~')})`;
}

/** The queries hold ASCII alone. */
const toStar = (character: string) => `*${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
