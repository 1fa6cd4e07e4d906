import { Duration } from 'aws-cdk-lib';

/** The period of the metrics that alarms and dashboard look at: shorter would wake people for what passes. */
export const period = Duration.minutes(5);
